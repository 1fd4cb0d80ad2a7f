// Shares and weights in words, as language/percentages.py writes them.

/** A share (0..1) in per cent, never rounded to none or all: 92%, 3.1%, <0.1%. */
export function percent(p) {
  const value = p * 100;
  if (value > 0 && value < 0.1) return "<0.1%";
  if (value > 99.9 && value < 100) return ">99.9%";
  const whole = (value >= 9.95 && value < 99.5) || value === 0 || value === 100;
  return `${value.toFixed(whole ? 0 : 1)}%`;
}

/** A weight (0..1) in a sentence: per cent for a beginner, three decimals for others. */
export const weightSaid = ({ plain }, weight) => (plain ? percent(weight) : weight.toFixed(3));
