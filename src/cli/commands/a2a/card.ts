import type { Command } from '../../command.ts';
import { textOf } from '../../gateway/api.ts';
import { failure } from '../../terminal/failure.ts';

const TIMEOUT_MS = 10_000;

export const a2aCardCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'server',
  about: 'Other agents read it at /.well-known/agent-card.json, without a login.',
  examples: [{ command: 'gateway a2a card', does: 'the card as JSON: address, skills, logins' }],
  run: async (_, context) => {
    const gateway = await context.gateway();
    const answer = await gateway.send('/.well-known/agent-card.json', {
      method: 'GET',
      timeoutMs: TIMEOUT_MS,
    });
    const text = await textOf(answer);
    if (answer.status !== 200)
      throw failure(1, 'unexpected_answer', `The gateway answered ${answer.status} for its agent card`);
    const card: object = JSON.parse(text);
    context.io.result(card, () => JSON.stringify(card, null, 2));
    return 0;
  },
};
