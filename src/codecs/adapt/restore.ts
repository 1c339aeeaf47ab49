import type { PartReader, StreamPart } from '../model/stream-part.ts';
import { restoreArguments } from '../schema/restore.ts';
import { customInput, safeId, type ToolNames } from './tool-names.ts';

interface HeldCall {
  text: string;
  restored(text: string): string;
}

/** Gives the parts of an upstream's answer the client's tool names, kinds and arguments. */
export function restoreTools(reader: PartReader, names: ToolNames): PartReader {
  /** Calls whose arguments leave as another text than they came, which is known once they are whole. */
  const heldCalls = new Map<number, HeldCall>();

  const restored = (part: StreamPart): StreamPart[] => {
    switch (part.type) {
      case 'tool-call-start': {
        const clientTool = names.clientTool(part.name);
        const plan = names.plan(part.name);
        // A custom tool's arguments come as JSON and leave as the text in it.
        if (clientTool?.kind === 'custom' && part.kind === 'function')
          heldCalls.set(part.block, { text: '', restored: customInput });
        else if (plan !== null)
          heldCalls.set(part.block, { text: '', restored: (text) => restoreArguments(text, plan) });
        return [{ ...part, id: safeId(part.id), ...clientTool }];
      }
      case 'tool-call-delta': {
        const call = heldCalls.get(part.block);
        if (call === undefined) return [part];
        call.text += part.text;
        return [];
      }
      case 'tool-call-end': {
        const call = heldCalls.get(part.block);
        if (call === undefined) return [part];
        heldCalls.delete(part.block);
        return [{ type: 'tool-call-delta', block: part.block, text: call.restored(call.text) }, part];
      }
      default:
        return [part];
    }
  };
  /** Nearly all parts are text, and stay as they are. */
  const all = (parts: StreamPart[]) => (parts.some(isOfCall) ? parts.flatMap(restored) : parts);
  return {
    push: (frame) => all(reader.push(frame)),
    end: () => all(reader.end()),
  };
}

function isOfCall({ type }: StreamPart): boolean {
  return type === 'tool-call-start' || type === 'tool-call-delta' || type === 'tool-call-end';
}
