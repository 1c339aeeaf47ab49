import type { PartReader, StreamPart } from './stream-part.ts';
import { customInput, safeId, type ToolNames } from './tool-names.ts';

/** Gives the parts of an upstream's answer the tool names and kinds that the caller knows. */
export function restoreTools(reader: PartReader, names: ToolNames): PartReader {
  /** Arguments of calls of custom tools, which come as JSON and leave as the text in it. */
  const custom = new Map<number, string>();

  const restored = (part: StreamPart): StreamPart[] => {
    switch (part.type) {
      case 'tool-call-start': {
        const known = names.known(part.name);
        if (known?.kind === 'custom' && part.kind === 'function') custom.set(part.block, '');
        return [{ ...part, id: safeId(part.id), ...known }];
      }
      case 'tool-call-delta': {
        const soFar = custom.get(part.block);
        if (soFar === undefined) return [part];
        custom.set(part.block, soFar + part.text);
        return [];
      }
      case 'tool-call-end': {
        const input = custom.get(part.block);
        if (input === undefined) return [part];
        custom.delete(part.block);
        return [{ type: 'tool-call-delta', block: part.block, text: customInput(input) }, part];
      }
      default:
        return [part];
    }
  };
  return {
    push: (frame) => reader.push(frame).flatMap(restored),
    end: () => reader.end().flatMap(restored),
  };
}
