import { GatewayError } from '../../lib/error.ts';
import { describeExit, type Exit, type Program, startProgram } from '../process/child.ts';
import { createOutputTail, type OutputTail, readLines, redacted } from '../process/output-tail.ts';
import { createPeer, type Peer, type PeerLimits, RpcError, rpcCodes } from '../protocol/peer.ts';
import {
  type InitializeResponse,
  initialized,
  type OpenedSession,
  openedSession,
  promptResult,
  protocolVersion,
  sessionUpdate,
} from '../protocol/schema.ts';
import type { AgentSetup } from '../setup.ts';
import type { SessionFolder } from '../workspace/session-folder.ts';
import { createTerminals, type Terminals } from '../workspace/terminals.ts';
import { answerAgent, mayExecute, mayWrite, type SessionClient } from './client-methods.ts';
import type { AgentEvent, TurnEnd, TurnUsage } from './event.ts';
import { modelRequest } from './model-choice.ts';
import { createUpdateReader, oneLine, type UpdateReader } from './updates.ts';

/** How long the parts of a connection may take, in milliseconds. */
export interface ConnectionTimes {
  /** From asking a program to end until it is ended. */
  graceMs: number;
  /** From cancelling a turn until its program is ended. */
  cancelMs: number;
}

export const connectionTimes: ConnectionTimes = { graceMs: 2_000, cancelMs: 10_000 };

export interface ConnectionLimits extends PeerLimits {
  /** Bytes of the updates of one turn. */
  turnBytes: number;
  /** Bytes of updates while nothing is asked of the agent. */
  idleBytes: number;
}

export interface ConnectionInput {
  setup: AgentSetup;
  /** Its program: an absolute path, or a name that is looked for on the PATH of `env`. */
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Where the program is started. */
  cwd: string;
  /** Texts that are left out of what it prints and in its errors. */
  secrets: readonly string[];
  /** The gateway's own version, sent to the agent. */
  version: string;
  times: ConnectionTimes;
  limits: ConnectionLimits;
  /** Calls back after so many milliseconds. @returns what calls it off */
  after(ms: number, run: () => void): () => void;
}

/** How a connection ended. */
export interface ConnectionEnd {
  /** The gateway asked for it. */
  requested: boolean;
  /** `it ended with exit code 3`. */
  how: string;
}

/** A session of an agent, ready for prompts. */
export interface OpenSession {
  id: string;
  folder: SessionFolder;
}

/** An image block or a text block of a prompt. */
export type PromptBlock = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

export interface PromptTurn {
  /** Called with what the agent does, in order. */
  onEvent(event: AgentEvent): void;
  /** Ends the turn early. */
  signal: AbortSignal;
}

/** A running agent that can be asked. */
export interface AgentConnection {
  pid: number | null;
  /** What the agent says of itself. */
  agent: InitializeResponse;
  /** The last lines that it printed. */
  output: OutputTail;
  /** Resolves when its program is gone. */
  ended: Promise<ConnectionEnd>;
  /** @throws GatewayError `login_required`, `model_not_found`, `agent_failed`, `upstream_timeout` */
  newSession(folder: SessionFolder, model: string | null): Promise<OpenSession>;
  /** Goes on with a session of an earlier process. @throws GatewayError as `newSession` does */
  loadSession(id: string, folder: SessionFolder, model: string | null): Promise<OpenSession>;
  /** Asks the agent. @throws GatewayError `agent_failed`, `login_required`, `client_closed` */
  prompt(session: OpenSession, blocks: readonly PromptBlock[], turn: PromptTurn): Promise<TurnEnd>;
  /** Lets the agent forget a session, and ends what it runs. */
  closeSession(session: OpenSession): Promise<void>;
  /** Stops reading from the agent until `resume()`. */
  pause(): void;
  resume(): void;
  /** Ends the program and what it started. */
  stop(): Promise<ConnectionEnd>;
}

interface LiveSession {
  terminals: Terminals;
  client: SessionClient;
  turn: { reader: UpdateReader; bytes: number; onEvent(event: AgentEvent): void; signal: AbortSignal } | null;
}

/**
 * Starts an agent and agrees with it on the protocol. When this rejects, its program is gone.
 * @param signal ends it while it starts
 * @throws GatewayError `agent_failed`, `upstream_timeout`
 */
export async function connectAgent(input: ConnectionInput, signal: AbortSignal): Promise<AgentConnection> {
  const connection = new Connection(input);
  const onAbort = () => void connection.stop();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    await connection.initialize();
    return connection;
  } catch (error) {
    await connection.stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** How long a program may live on whose output has ended, in milliseconds. */
const LINGER_MS = 1_000;

/** One agent and its sessions. A class, because its sessions share a dozen things. */
class Connection implements AgentConnection {
  readonly output: OutputTail;
  readonly ended: Promise<ConnectionEnd>;
  readonly #input: ConnectionInput;
  readonly #program: Program;
  readonly #peer: Peer;
  readonly #sessions = new Map<string, LiveSession>();
  #agent: InitializeResponse = { protocolVersion };
  #stopping = false;
  /** What was wrong with the connection; null where the program just ended. */
  #fault: string | null = null;
  #idleBytes = 0;

  constructor(input: ConnectionInput) {
    this.#input = input;
    const { args, command, cwd, env, limits, secrets, times } = input;
    this.output = createOutputTail(secrets);
    let lingering = () => {};
    this.#program = startProgram({ command, args, env, cwd, graceMs: times.graceMs });
    const { exited, stderr, stdin, stdout } = this.#program;
    readLines(stderr, (line) => this.output.add(line));
    this.#peer = createPeer({
      input: stdout,
      output: stdin,
      limits,
      onRequest: (method, params) =>
        answerAgent(method, params, (id) => this.#sessions.get(id)?.client ?? null),
      onNotification: (method, params, bytes) => this.#onNotification(method, params, bytes),
      onStray: (line) => this.output.add(line),
      onClose: (fault) => {
        if (fault === null) lingering = input.after(LINGER_MS, () => this.#breakOff('it closed its output'));
        else {
          this.#fault ??= fault.message;
          void this.stop();
        }
      },
    });
    this.ended = exited.then((exit) => {
      lingering();
      return this.#onExit(exit);
    });
  }

  get pid(): number | null {
    return this.#program.pid;
  }

  get agent(): InitializeResponse {
    return this.#agent;
  }

  async initialize(): Promise<void> {
    const { setup, version } = this.#input;
    const answered = await this.#starting('initialize', {
      protocolVersion,
      clientCapabilities: {
        fs: { readTextFile: setup.capabilities.fs, writeTextFile: mayWrite(setup) },
        terminal: mayExecute(setup),
      },
      clientInfo: { name: 'modelgate', title: 'Modelgate', version },
    });
    const agent = initialized.safeParse(answered);
    if (!agent.success) throw this.#failed('its answer to "initialize" cannot be read');
    if (agent.data.protocolVersion !== protocolVersion)
      throw this.#failed(
        `it speaks version ${agent.data.protocolVersion} of the Agent Client Protocol, and the gateway version ${protocolVersion}`,
      );
    this.#agent = agent.data;
  }

  async newSession(folder: SessionFolder, model: string | null): Promise<OpenSession> {
    const opened = await this.#opened('session/new', { cwd: folder.work, mcpServers: [] });
    if (opened.sessionId === undefined) throw this.#failed('it opened a session without an id');
    return this.#ready(opened.sessionId, opened, folder, model);
  }

  async loadSession(id: string, folder: SessionFolder, model: string | null): Promise<OpenSession> {
    const opened = await this.#opened('session/load', { sessionId: id, cwd: folder.work, mcpServers: [] });
    return this.#ready(id, opened, folder, model);
  }

  async prompt(session: OpenSession, blocks: readonly PromptBlock[], turn: PromptTurn): Promise<TurnEnd> {
    const live = this.#sessions.get(session.id);
    if (live === undefined) throw this.#failed('its session is gone');
    const { signal } = turn;
    if (signal.aborted) throw cancelled();
    live.turn = { reader: createUpdateReader(), bytes: 0, onEvent: turn.onEvent, signal };
    let callOff = () => {};
    const cancel = () => {
      this.#peer.notify('session/cancel', { sessionId: session.id });
      // The client has gone: its pace does not matter any more.
      this.#peer.resume();
      callOff = this.#input.after(this.#input.times.cancelMs, () => {
        this.#fault = 'it continued after it was asked to stop';
        void this.stop();
      });
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answered = await this.#request('session/prompt', { sessionId: session.id, prompt: blocks });
      const result = promptResult.safeParse(answered);
      if (!result.success) throw this.#failed('its answer to "session/prompt" cannot be read');
      if (signal.aborted) throw cancelled();
      return { reason: reasonOf(result.data.stopReason), usage: usageOf(result.data.usage ?? null) };
    } catch (error) {
      if (signal.aborted) throw cancelled();
      throw error;
    } finally {
      callOff();
      signal.removeEventListener('abort', cancel);
      live.turn = null;
    }
  }

  async closeSession({ id }: OpenSession): Promise<void> {
    const live = this.#sessions.get(id);
    if (live === undefined) return;
    this.#sessions.delete(id);
    await live.terminals.close();
    if (this.#agent.agentCapabilities?.sessionCapabilities?.close)
      await this.#peer.request('session/close', { sessionId: id }).catch(() => {});
  }

  pause(): void {
    this.#peer.pause();
  }

  resume(): void {
    this.#peer.resume();
  }

  async stop(): Promise<ConnectionEnd> {
    this.#stopping = true;
    await this.#program.stop();
    return this.ended;
  }

  async #onExit(exit: Exit): Promise<ConnectionEnd> {
    const how = this.#fault ?? describeExit(exit);
    this.#peer.close(this.#failed(how));
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(({ terminals }) => terminals.close()));
    return { requested: this.#stopping && this.#fault === null, how };
  }

  async #ready(
    id: string,
    opened: OpenedSession,
    folder: SessionFolder,
    model: string | null,
  ): Promise<OpenSession> {
    this.#sessions.set(id, this.#live(folder));
    const { setup } = this.#input;
    const request = modelRequest(setup, opened, model);
    if (request !== null) await this.#starting(request.method, { sessionId: id, ...request.params });
    return { id, folder };
  }

  #live(folder: SessionFolder): LiveSession {
    const { env, setup } = this.#input;
    const terminals = createTerminals(folder.work, env);
    const live: LiveSession = {
      turn: null,
      terminals,
      client: {
        setup,
        work: folder.work,
        terminals,
        tool: (id) => live.turn?.reader.tool(id) ?? null,
        isCancelled: () => live.turn === null || live.turn.signal.aborted,
        onDecision: ({ allowed, kind }, title) => {
          if (!allowed) live.turn?.onEvent({ type: 'refused', title: oneLine(title), kind });
        },
        onRefusal: (what) => {
          this.output.add(`[gateway] refused: ${what}`);
        },
      },
    };
    return live;
  }

  #onNotification(method: string, params: unknown, bytes: number): void {
    const { limits } = this.#input;
    const parsed = method === 'session/update' ? sessionUpdate.safeParse(params) : null;
    const turn = parsed?.success ? this.#sessions.get(parsed.data.sessionId)?.turn : undefined;
    if (!turn || !parsed?.success) {
      this.#idleBytes += bytes;
      if (this.#idleBytes > limits.idleBytes)
        this.#breakOff('it floods the gateway while nothing is asked of it');
      return;
    }
    turn.bytes += bytes;
    if (turn.bytes > limits.turnBytes) {
      this.#breakOff(`its answer has more than ${limits.turnBytes} bytes`);
      return;
    }
    this.#idleBytes = 0;
    const event = turn.reader.read(parsed.data.update);
    if (event !== null && !turn.signal.aborted) turn.onEvent(event);
  }

  #breakOff(why: string): void {
    if (this.#fault !== null) return;
    this.#fault = why;
    this.#peer.close(this.#failed(why));
    void this.stop();
  }

  /** A session, after a login where the agent asks for one. */
  async #opened(method: string, params: unknown): Promise<OpenedSession> {
    const { authMethod } = this.#input.setup;
    let answered: unknown;
    try {
      answered = await this.#starting(method, params);
    } catch (error) {
      if (authMethod === undefined || !isLogin(error)) throw error;
      await this.#starting('authenticate', { methodId: authMethod });
      answered = await this.#starting(method, params);
    }
    const opened = openedSession.safeParse(answered ?? {});
    if (!opened.success) throw this.#failed(`its answer to "${method}" cannot be read`);
    return opened.data;
  }

  /** A request before the first prompt, which has the agent's time to start. */
  async #starting(method: string, params: unknown): Promise<unknown> {
    const { after, setup } = this.#input;
    const { promise, reject } = Promise.withResolvers<never>();
    const callOff = after(setup.startTimeoutMs, () => {
      this.#fault = `it did not answer "${method}" within ${setup.startTimeoutMs / 1000} s`;
      reject(new GatewayError('upstream_timeout', `The agent ${setup.name} is not ready: ${this.#fault}`));
      void this.stop();
    });
    try {
      return await Promise.race([this.#request(method, params), promise]);
    } finally {
      callOff();
    }
  }

  async #request(method: string, params: unknown): Promise<unknown> {
    try {
      return await this.#peer.request(method, params);
    } catch (error) {
      if (!(error instanceof RpcError)) {
        // The program's end says more than the end of its connection.
        throw this.#failed((await this.ended).how);
      }
      const { name } = this.#input.setup;
      const errorText = redacted(error.message, this.#input.secrets);
      if (error.code === rpcCodes.authRequired)
        throw new GatewayError(
          'login_required',
          `The agent ${name} is not logged in (${errorText}): log in with its own program on the gateway’s machine`,
        );
      throw new GatewayError(
        'agent_failed',
        `The agent ${name} answered "${method}" with an error: ${errorText}`,
      );
    }
  }

  #failed(how: string): GatewayError {
    return new GatewayError('agent_failed', `The agent ${this.#input.setup.name} failed: ${how}`);
  }
}

function isLogin(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'login_required';
}

function cancelled(): GatewayError {
  return new GatewayError('client_closed', 'The client went away');
}

function reasonOf(reason: string): TurnEnd['reason'] {
  switch (reason) {
    case 'max_tokens':
    case 'max_turn_requests':
    case 'refusal':
    case 'cancelled':
      return reason;
    default:
      return 'end_turn';
  }
}

interface ReportedUsage {
  inputTokens: number;
  outputTokens: number;
  cachedReadTokens?: number | null | undefined;
  cachedWriteTokens?: number | null | undefined;
  thoughtTokens?: number | null | undefined;
}

function usageOf(usage: ReportedUsage | null): TurnUsage | null {
  if (usage === null) return null;
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cachedReadTokens ?? 0,
    cacheWrite: usage.cachedWriteTokens ?? 0,
    reasoning: usage.thoughtTokens ?? 0,
  };
}
