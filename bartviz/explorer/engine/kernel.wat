;; The product of rows of float32 with a matrix of int8 rows, four numbers at a time. kernel.js holds this, compiled:
;; `npm run kernel` compiles it again.
(module
  (import "page" "memory" (memory 1))

  ;; The product of float32 numbers at $x with as many int8 numbers at $w: $count of them, a multiple of 8.
  (func $dot (param $x i32) (param $w i32) (param $count i32) (result f32)
    (local $end i32) (local $eight v128) (local $a v128) (local $b v128)
    (local.set $end (i32.add (local.get $w) (local.get $count)))
    (loop $next
      (if (i32.lt_u (local.get $w) (local.get $end)) (then
        (local.set $eight (v128.load8x8_s (local.get $w)))
        (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $x))
          (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $eight))))))
        (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $x))
          (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $eight))))))
        (local.set $w (i32.add (local.get $w) (i32.const 8)))
        (local.set $x (i32.add (local.get $x) (i32.const 32)))
        (br $next))))
    (local.set $a (f32x4.add (local.get $a) (local.get $b)))
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
      (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))

  ;; y (n, rows) = x (n, columns) times w (rows, columns) transposed, each column of y times its scale.
  ;; A row of the matrix is read once for all rows of x.
  (func (export "linear")
    (param $x i32) (param $n i32) (param $w i32) (param $scales i32) (param $y i32) (param $rows i32) (param $columns i32)
    (local $row i32) (local $i i32)
    (loop $rows_left
      (if (i32.lt_u (local.get $row) (local.get $rows)) (then
        (local.set $i (i32.const 0))
        (loop $texts_left
          (if (i32.lt_u (local.get $i) (local.get $n)) (then
            (f32.store
              (i32.add (local.get $y) (i32.shl (i32.add (i32.mul (local.get $i) (local.get $rows)) (local.get $row)) (i32.const 2)))
              (f32.mul
                (f32.load (i32.add (local.get $scales) (i32.shl (local.get $row) (i32.const 2))))
                (call $dot
                  (i32.add (local.get $x) (i32.shl (i32.mul (local.get $i) (local.get $columns)) (i32.const 2)))
                  (local.get $w)
                  (local.get $columns))))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $texts_left))))
        (local.set $w (i32.add (local.get $w) (local.get $columns)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br $rows_left))))))
