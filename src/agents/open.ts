import type { Dispatcher } from 'undici';
import type { Concept } from '../codecs/model/concept.ts';
import { GatewayError } from '../lib/error.ts';
import { conversationKeys } from './answer/conversation-key.ts';
import { readQuestion } from './answer/question.ts';
import type { AgentProcesses } from './pool/pool.ts';
import type { RunningAgents, RunningInput } from './running.ts';
import type { AgentSetup } from './setup.ts';
import type { AgentTest } from './test-agent.ts';

export type { AgentTest } from './test-agent.ts';

export interface AgentsInput extends RunningInput {
  /** Every agent that there is, enabled or not, as it is set up at this moment. */
  setups(): readonly AgentSetup[];
}

/** A model request for an agent. */
export interface AgentRequest {
  /** What stands behind `acp/`: the agent's id, and its model behind a slash. */
  model: string;
  /** Id of the gateway key that asks. */
  owner: string;
  /** The session as the client names it; null where it does not. */
  session: string | null;
  /** A request of the chat format. */
  body: Buffer;
}

/** An agent that is ready to be asked. */
export interface AgentUpstream {
  /** The fields that it is not sent. */
  dropped: readonly Concept[];
  /** What the chat format calls the bound of the answer, which agents do not take; null where none is set. */
  outputLimitField: string | null;
  /** Asks it, through the calls of an undici handler. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
}

/** The ACP agents of a gateway. */
export interface Agents {
  /** @throws GatewayError `model_not_found`, `connection_unusable`, `invalid_request`, `not_translatable` */
  ask(request: AgentRequest): AgentUpstream;
  /** How an agent is just now. */
  status(id: string): AgentProcesses & { stopped: boolean };
  /** Opens a session of its own and asks for one word. @throws GatewayError */
  test(id: string): Promise<AgentTest>;
  /** Lets requests to the agent in again. */
  start(id: string): void;
  /** Ends its processes, and refuses requests until it is started. Resolves when they are gone. */
  stop(id: string): Promise<void>;
  /** Ends its processes, so that the next request finds it as it is set up now. */
  restart(id: string): Promise<void>;
  close(): Promise<void>;
}

const noProcesses: AgentProcesses = {
  processes: [],
  waiting: 0,
  failures: 0,
  error: null,
  pauseMs: 0,
  output: [],
};

/** Nothing of an agent is loaded before the first one is asked. */
export function openAgents(input: AgentsInput): Agents {
  const stopped = new Set<string>();
  let running: Promise<RunningAgents> | null = null;
  let loaded: RunningAgents | null = null;
  let closed = false;
  const load = (): Promise<RunningAgents> => {
    running ??= import('./running.ts').then(async ({ openRunningAgents }) => {
      loaded = await openRunningAgents(input);
      return loaded;
    });
    return running;
  };
  const usable = (id: string): AgentSetup => {
    const setup = input.setups().find((one) => one.id === id);
    if (setup === undefined)
      throw new GatewayError(
        'model_not_found',
        `There is no ACP agent "${id.slice(0, 100)}": \`gateway agents list\` shows them`,
        {
          param: 'model',
        },
      );
    if (!setup.enabled)
      throw new GatewayError(
        'connection_unusable',
        `The agent ${setup.name} is not enabled: run \`gateway agents enable ${id}\``,
      );
    if (stopped.has(id))
      throw new GatewayError(
        'connection_unusable',
        `The agent ${setup.name} was stopped: start the service agent-${id} again`,
      );
    return setup;
  };
  return {
    ask({ body, model, owner, session }) {
      const slash = model.indexOf('/');
      const setup = usable(slash === -1 ? model : model.slice(0, slash));
      const named = slash === -1 ? null : model.slice(slash + 1);
      const question = readQuestion(body);
      const keys = conversationKeys(question.conversation, session);
      return {
        dropped: question.dropped,
        outputLimitField: question.outputLimitField,
        dispatch(_, handler) {
          const request = { setup, owner, model: named ?? setup.defaultModel, target: model, question, keys };
          load().then(
            (agents) => agents.dispatch(request, handler),
            (error: unknown) => fail(handler, setup, error),
          );
          return true;
        },
      };
    },
    status: (id) => ({ ...(loaded?.pool.status(id) ?? noProcesses), stopped: stopped.has(id) }),
    async test(id) {
      const setup = usable(id);
      const { testAgent } = await import('./test-agent.ts');
      return testAgent((await load()).pool, setup, input);
    },
    start: (id) => void stopped.delete(id),
    async stop(id) {
      stopped.add(id);
      await loaded?.pool.end(id);
    },
    async restart(id) {
      stopped.delete(id);
      await loaded?.pool.end(id);
    },
    async close() {
      if (closed) return;
      closed = true;
      const agents = await running?.catch(() => null);
      await agents?.pool.close();
    },
  };
}

/** Tells the reader of an answer that there will be none. */
function fail(handler: Dispatcher.DispatchHandler, { name }: AgentSetup, cause: unknown): void {
  const error = new GatewayError('agent_failed', `The agent ${name} could not be asked`, { cause });
  const never: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    abort() {},
    pause() {},
    resume() {},
  };
  handler.onRequestStart?.(never, {});
  handler.onResponseError?.(never, error);
}
