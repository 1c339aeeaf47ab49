/** A text without the repetitions of one character at its end. A pattern such as `x+$` is quadratic (`npm run check`). */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** A number in plain decimal notation, rounded to `digits` behind the point, without zeros at its end. */
export function plainDecimal(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes('.') ? withoutTrailing(withoutTrailing(text, '0'), '.') : text;
}
