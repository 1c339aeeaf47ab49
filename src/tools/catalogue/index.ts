import type { Tool } from '../tool.ts';
import { agentTools } from './agents/index.ts';
import { codeTools } from './code/index.ts';

/** Every entry of the catalogue, in the order in which they are listed. */
export const catalogue: readonly Tool[] = [...codeTools, ...agentTools];

/** The entries that are shown: those that can be pointed at another endpoint, at least in part. */
export const tools: readonly Tool[] = catalogue.filter(({ baseUrlSupport }) => baseUrlSupport !== 'none');

/** An entry by its id, shown or not. */
export function findTool(id: string): Tool | null {
  return catalogue.find((tool) => tool.id === id) ?? null;
}
