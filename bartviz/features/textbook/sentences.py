"""The texts that statements are tested on, and gaps with the word that belongs in them."""

TEXT = "I want to buy a car."
TEXTS = (
    TEXT,
    "We have been waiting for the bus for more than an hour.",
    "My brother works in a small factory near the river.",
    "The government decided to build a new bridge over the river next year.",
)
SEARCHED = (
    "The train was late again this morning.",
    "If it rains tomorrow, we will stay at home and play cards.",
    "What are you looking for?",
    "She asked me whether I could help her with her homework.",
    "They have been friends for many years.",
    "Nobody knows why he left the party so early.",
    "Please wait for me in front of the station.",
    *TEXTS,
)
HOUSE = (
    "The house is beautiful and well located in the middle of the city "
    "where it is easily accessible by public transport"
)
LONGER = "Yesterday my sister bought two very old books."

# Of each the second sentence follows the first.
PAIRS = (
    ("I bought a new car.", "It is very fast."),
    ("My sister has a dog.", "It barks at night."),
    ("The train was late.", "We waited for an hour."),
    ("He fell off his bicycle.", "His arm is broken."),
    ("She opened the window.", "The room was too hot."),
    ("I lost my key.", "I cannot open the door."),
    ("It is raining.", "Take an umbrella with you."),
    ("Tom is ill.", "He stayed in bed today."),
    ("The soup is too hot.", "Wait until it is cool."),
    ("My father works in a bank.", "He goes there by bus."),
    ("We went to the beach.", "The water was cold."),
    ("The king had three sons.", "The youngest of them was very clever."),
)

FACTS = (
    ("Snow is [MASK].", "white"),
    ("Grass is [MASK].", "green"),
    ("Ice is [MASK].", "cold"),
    ("The sky is [MASK].", "blue"),
    ("Paris is in [MASK].", "france"),
    ("London is in [MASK].", "england"),
    ("Rome is in [MASK].", "italy"),
    ("A week has seven [MASK].", "days"),
    ("A year has twelve [MASK].", "months"),
    ("Birds have [MASK].", "wings"),
    ("Fish can [MASK].", "swim"),
    ("Dogs have four [MASK].", "legs"),
)
GRAMMAR = (
    ("I [MASK] very tired.", "am"),
    ("They [MASK] very tired.", "are"),
    ("She [MASK] very tired.", "is"),
    ("Tom [MASK] never been to Paris.", "has"),
    ("I am older [MASK] you.", "than"),
    ("I want [MASK] go home.", "to"),
    ("What [MASK] you want?", "do"),
    ("Where [MASK] he live?", "does"),
    ("We [MASK] not seen him since Monday.", "have"),
    ("If I [MASK] rich, I would buy a car.", "were"),
    ("He [MASK] not like milk.", "does"),
    ("They have [MASK] waiting for an hour.", "been"),
)
