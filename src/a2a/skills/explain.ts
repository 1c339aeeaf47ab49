import { GatewayError } from '../../lib/error.ts';
import type { Skill, SkillDeps } from '../skill.ts';

const requestId = /\breq_[0-9A-Za-z]{1,64}\b/;

/** Why one model request went where it went. */
export function explainSkill({ read }: SkillDeps): Skill {
  return {
    needs: 'caller',
    async *run({ identity: { caller }, text }) {
      const id = requestId.exec(text)?.[0];
      if (id === undefined || caller === null)
        throw new GatewayError('invalid_request', 'Name the request to explain: its id begins with req_');
      const {
        actions: _actions,
        href: _href,
        ...row
      } = await read(caller, `/requests/${id}`, new URLSearchParams());
      yield { kind: 'text', text: sentenceOf(row) };
      yield { kind: 'data', data: row };
    },
  };
}

function sentenceOf(row: Readonly<Record<string, unknown>>): string {
  const {
    attempts,
    connection,
    cost_usd: cost,
    duration_ms: duration,
    id,
    model,
    outcome,
    requested_model: requestedModel,
  } = row;
  const target =
    connection === null ? 'nobody answered' : `${String(connection)} answered with ${String(model)}`;
  const error = row['error'] as { code: string; message: string | null } | null;
  const failure = error === null ? '' : ` Error ${error.code}: ${error.message ?? ''}`;
  const price = typeof cost === 'number' ? `${cost} USD` : 'an unknown price';
  return `${String(id)} asked for "${String(requestedModel)}" and ended ${String(outcome)}: ${target}, after ${String(attempts)} attempts in ${String(duration)} ms, for ${price}.${failure}`;
}
