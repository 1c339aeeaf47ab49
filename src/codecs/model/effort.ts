/** A budget of tokens for thinking as a word for effort (the steps of the vendors' own guides). */
export function effortOfBudget(tokens: number): string {
  if (tokens <= 2_048) return 'low';
  return tokens <= 8_192 ? 'medium' : 'high';
}
