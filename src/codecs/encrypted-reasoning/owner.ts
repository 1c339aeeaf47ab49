import type { PartReader, StreamPart } from '../model/stream-part.ts';

/**
 * Who can read the encrypted reasoning of an answer: one account, and the models of one make. Encrypted reasoning that comes back for
 * another owner is left out before it is sent, for its vendor would refuse the whole request.
 * @param account any name of it that does not change
 */
export function reasoningOwner(account: string, model: string): string {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return `${account}:${/^[a-z]+/.exec(name)?.[0] ?? name}`;
}

/** Notes the owner on all encrypted reasoning that an answer brings. */
export function withReasoningOwner(reader: PartReader, owner: string): PartReader {
  const owned = (part: StreamPart): StreamPart =>
    part.type === 'reasoning-end' && part.encrypted !== null
      ? { ...part, encrypted: { ...part.encrypted, owner } }
      : part;
  const all = (parts: StreamPart[]) => (parts.some(endsReasoning) ? parts.map(owned) : parts);
  return {
    push: (frame) => all(reader.push(frame)),
    end: () => all(reader.end()),
  };
}

function endsReasoning({ type }: StreamPart): boolean {
  return type === 'reasoning-end';
}
