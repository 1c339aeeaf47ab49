import type { Command } from '../../command.ts';
import { actOnAgent, agentArgument } from '../../resources/agents.ts';

/** Some agents need half a minute to start. */
const TIMEOUT_MS = 240_000;

export const agentsTestCommand: Command = {
  arguments: [agentArgument],
  flags: [],
  needs: 'server',
  about:
    'The gateway starts it where needed, opens a session, and asks for one word, which costs what the model of the agent costs. Exit 1 when no answer came.',
  examples: [{ command: 'gateway agents test opencode', does: 'its answer, or what is wrong' }],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    const gateway = await context.gateway();
    context.io.note(`Asking ${id} for one word; a first start can take half a minute.`);
    const { message, result = {}, success } = await actOnAgent(gateway, id, 'test', TIMEOUT_MS);
    context.io.result({ id, success, message, ...result }, () => message);
    return success ? 0 : 1;
  },
};
