import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../codecs/json/values.ts';

/** Stands in the text of an answer where the tools belong. */
const MARK = `"${randomBytes(10).toString('hex')}"`;

/** The tools of answers as JSON, by those of the request that they repeat: agents offer the same ones with every request. */
const toolTexts = new WeakMap<object, string>();

/**
 * A whole answer as JSON. Answers of the responses format repeat the tools of their request, which are longer than most answers:
 * they are written once for all requests that have the same list.
 * @param request which is not changed any more
 */
export function answerText(answer: JsonObject, request: JsonObject): string {
  const { tools } = answer;
  const { tools: offered } = request;
  if (!Array.isArray(tools) || tools.length === 0 || !Array.isArray(offered)) return JSON.stringify(answer);
  const toolText = toolTexts.get(offered) ?? JSON.stringify(tools);
  toolTexts.set(offered, toolText);
  const text = JSON.stringify({ ...answer, tools: MARK.slice(1, -1) });
  const at = text.indexOf(MARK);
  return text.slice(0, at) + toolText + text.slice(at + MARK.length);
}
