/**
 * The marks of an axis from 0 to the first one that is not below `most`: 1, 2 or 5 times a power of ten apart.
 * @param most the largest value; where it is 0, the axis ends at 1
 * @param about how many steps there should be; there are at most half as many more
 * @param least no step is smaller: 1 for what is counted
 */
export function axisTicks(most: number, about: number, least = 0): number[] {
  const top = Math.max(most > 0 ? most : 1, least);
  const power = Math.floor(Math.log10(Math.max(top / about, least)));
  // Divided rather than multiplied by a fraction, which would give 0.30000000000000004.
  const scaled = power < 0 ? top * 10 ** -power : top / 10 ** power;
  const step = [1, 2, 5, 10].find((size) => scaled / size <= about * Math.SQRT2) ?? 10;
  const count = Math.max(1, Math.ceil(scaled / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, index) =>
    power < 0 ? (index * step) / 10 ** -power : index * step * 10 ** power,
  );
}
