import type { Command } from '../../command.ts';
import { actOnAgent, agentArgument } from '../../resources/agents.ts';

/** Some agents need half a minute to start. */
const TIMEOUT_MS = 240_000;

export const agentsTestCommand: Command = {
  arguments: [agentArgument],
  flags: [],
  needs: 'server',
  about:
    'The gateway starts the agent if needed, opens a session, and asks for one word, at the price of its model. Exit 1 when no answer came.',
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
