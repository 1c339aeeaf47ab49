import { GatewayError } from '../../lib/error.ts';
import type { Skill, SkillDeps } from '../skill.ts';

/** Pieces come no faster than this, in milliseconds: each is a whole event of the protocol. */
const PIECE_MS = 100;

/** Answers with a model: what every request with the gateway key is subject to holds, and it is in the ledger. */
export function askSkill({ complete }: SkillDeps, now: () => number): Skill {
  return {
    needs: 'key',
    async *run({ history, identity, metadata, signal, text }) {
      const { model = 'auto' } = metadata;
      if (typeof model !== 'string')
        throw new GatewayError('invalid_request', 'metadata.model must be the name of a model');
      const messages = [...history, { role: 'user' as const, text }];
      let waiting = '';
      let sentAt = Number.NEGATIVE_INFINITY;
      for await (const piece of complete({ key: identity.key ?? '', model, messages, signal })) {
        waiting += piece;
        if (now() - sentAt < PIECE_MS) continue;
        yield { kind: 'text', text: waiting };
        waiting = '';
        sentAt = now();
      }
      if (waiting !== '') yield { kind: 'text', text: waiting };
    },
  };
}
