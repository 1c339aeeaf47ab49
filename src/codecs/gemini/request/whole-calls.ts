import { isObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { wrong } from '../../json/wire-check.ts';
import { PartialArgs, willContinue } from '../answer/partial-args.ts';
import type { ContentPart, FunctionCall } from '../wire.ts';
import { camel } from '../wire-names.ts';

type PlacedPart = [part: ContentPart, path: string];

/**
 * The parts of a content with each call in one part and its arguments whole. A client that keeps a stream's parts as they
 * came sends the pieces of a call back (`partialArgs`, `willContinue`).
 */
export function wholeCalls(parts: readonly PlacedPart[]): PlacedPart[] {
  const whole: PlacedPart[] = [];
  let open: { args: PartialArgs; call: FunctionCall; path: string } | null = null;
  for (const [part, path] of parts) {
    const call = isObject(part.functionCall) ? withNames(part.functionCall) : null;
    const continues = open !== null && call !== null && textOf(call.name) === '';
    if (open !== null && continues && call !== null) open.args.add(call);
    else if (call !== null && (Array.isArray(call.partialArgs) || willContinue(call))) {
      open = { args: new PartialArgs(call), call: {}, path };
      const { partialArgs: _, willContinue: __, ...rest } = call;
      open.call = { ...rest };
      whole.push([{ ...part, functionCall: open.call }, path]);
    } else whole.push([part, path]);
    if (open === null || call === null) continue;
    open.call.args = open.args.args;
    if (open.args.broken)
      throw wrong(`${open.path}.functionCall.partialArgs`, 'a list of values, each with its "jsonPath"');
    if (!willContinue(call)) open = null;
  }
  return whole;
}

function withNames(call: FunctionCall): FunctionCall {
  const camelCall: FunctionCall = camel(call);
  const { partialArgs } = camelCall;
  return partialArgs === undefined
    ? camelCall
    : { ...camelCall, partialArgs: listOf(partialArgs).map((piece) => camel(objectOf(piece))) };
}
