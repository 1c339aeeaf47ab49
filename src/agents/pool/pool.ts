import { GatewayError } from '../../lib/error.ts';
import type { AgentConnection, OpenSession } from '../session/connection.ts';
import type { AgentSetup } from '../setup.ts';
import type { SessionFolder } from '../workspace/session-folder.ts';
import { type BackOff, createBackOff } from './back-off.ts';
import { type Conversation, createConversations } from './conversations.ts';

export interface PoolLimits {
  /** Processes of all agents together. */
  processes: number;
  /** Requests that wait for a process, of all agents together. */
  waiting: number;
  /** How long one may wait, in milliseconds. */
  waitMs: number;
  /** A process without a request is ended after this, in milliseconds. */
  idleMs: number;
  /** Sessions that can be gone on with. */
  sessions: number;
}

export interface PoolInput {
  limits: PoolLimits;
  /** Makes the folder of a new session. */
  makeFolder(setup: AgentSetup): Promise<SessionFolder>;
  /**
   * Starts a process.
   * @param signal ends it while it starts
   * @throws GatewayError
   */
  connect(
    setup: AgentSetup,
    folder: SessionFolder,
    model: string | null,
    signal: AbortSignal,
  ): Promise<AgentConnection>;
  /** Called when the processes of an agent have changed. */
  onChange(agent: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after so many milliseconds. @returns what calls it off */
  after(ms: number, run: () => void): () => void;
}

/** A request that needs a session of an agent. */
export interface LeaseRequest {
  setup: AgentSetup;
  /** Id of the gateway key. */
  owner: string;
  model: string | null;
  /** The key of the session that it continues; null where it begins one. */
  continues: string | null;
  signal: AbortSignal;
}

/** A session for one turn. Exactly one of `keep` and `drop` ends it. */
export interface Lease {
  connection: AgentConnection;
  session: OpenSession;
  /** Whether the session has the earlier turns. */
  hasEarlierTurns: boolean;
  /** The turn went well: the session waits for the request that is known by `next`. */
  keep(next: string): void;
  /** It is not continued. */
  drop(): void;
}

/** The processes of one agent, as they are shown. Times in milliseconds since the epoch. */
export interface AgentProcesses {
  processes: readonly { pid: number | null; state: 'starting' | 'idle' | 'busy'; startedAt: number }[];
  /** Requests that wait. */
  waiting: number;
  /** How often one ended by itself, or could not be started. */
  failures: number;
  error: { message: string; at: number } | null;
  /** Milliseconds until it is started again after a failure; 0 for at once. */
  pauseMs: number;
  /** The last lines that its processes printed. */
  output: readonly string[];
}

export interface Pool {
  /** @throws GatewayError `agent_busy`, `agent_failed`, `client_closed`, and what opening a session throws */
  lease(request: LeaseRequest): Promise<Lease>;
  status(agent: string): AgentProcesses;
  /** Ends the processes of an agent and forgets its sessions and failures. Resolves when they are gone. */
  end(agent: string): Promise<void>;
  /** Ends everything; later requests are refused. */
  close(): Promise<void>;
}

/** A process, from the decision to start it until it is gone. */
interface AgentProcess {
  agent: string;
  owner: string;
  /** What it was started with; another setting needs another process. */
  launch: string;
  /** It has a home folder of its own, so that it serves one session. */
  single: boolean;
  state: 'starting' | 'idle' | 'busy' | 'stopping';
  connection: AgentConnection | null;
  startedAt: number;
  /** Ends it while it starts. */
  aborter: AbortController;
  /** Resolves when it is gone. */
  closed: PromiseWithResolvers<void>;
  /** Calls off its end for lack of work. */
  callOff(): void;
}

type IdleSession = Conversation<AgentProcess>;

interface Waiter {
  request: LeaseRequest;
  resolve(grant: Assignment): void;
  reject(error: GatewayError): void;
}

/** A process that is set aside for a request. */
interface Assignment {
  member: AgentProcess;
  /** The session that it continues; null for a new one. */
  conversation: IdleSession | null;
}

interface ProcessHistory {
  backOff: BackOff;
  failures: number;
  error: AgentProcesses['error'];
  /** Of the last process that ended. */
  output: readonly string[];
}

/** Sessions that one process is given, one after the other. */
const SESSIONS_PER_PROCESS = 16;
/** `Retry-After` for a refused client, in seconds. */
const RETRY_AFTER = 5;

/**
 * The running agents. A process answers one request at a time and keeps its sessions between them; it is never shared
 * between gateway keys.
 */
export function createPool(input: PoolInput): Pool {
  const { after, limits, now } = input;
  const members = new Set<AgentProcess>();
  const histories = new Map<string, ProcessHistory>();
  const waiters: Waiter[] = [];
  let closed = false;
  const conversations = createConversations<AgentProcess>(
    limits.sessions,
    ({ folder, process, sessionId }) => {
      void (process?.connection?.closeSession({ id: sessionId, folder }) ?? Promise.resolve())
        .then(() => folder.remove())
        .catch(() => {});
    },
  );

  const historyOf = (agent: string): ProcessHistory => {
    const history = histories.get(agent);
    if (history !== undefined) return history;
    const newHistory = { backOff: createBackOff(now), failures: 0, error: null, output: [] };
    histories.set(agent, newHistory);
    return newHistory;
  };
  const failed = (agent: string, message: string) => {
    const history = historyOf(agent);
    history.failures += 1;
    history.error = { message, at: now() };
    history.backOff.failed();
  };
  const stop = async (member: AgentProcess): Promise<void> => {
    member.state = 'stopping';
    member.callOff();
    member.aborter.abort();
    // A request that comes meanwhile finds them as one that comes later does.
    conversations.detach(member, canLoad(member.connection));
    await member.connection?.stop();
    await member.closed.promise;
  };
  /** Frees a process for others, or ends it where no other request may use it. */
  const release = (member: AgentProcess) => {
    if (member.state !== 'busy' || !members.has(member)) return;
    member.state = 'idle';
    member.callOff = after(limits.idleMs, () => {
      if (member.state === 'idle') void stop(member);
    });
    input.onChange(member.agent);
    pump();
  };
  const remove = (member: AgentProcess, loadable: boolean) => {
    member.callOff();
    members.delete(member);
    conversations.detach(member, loadable);
    member.closed.resolve();
    input.onChange(member.agent);
    pump();
  };

  const compatible = (member: AgentProcess, { owner, setup, ...rest }: LeaseRequest): boolean =>
    member.state === 'idle' &&
    member.agent === setup.id &&
    member.owner === owner &&
    member.launch === launchOf(setup, rest.model);
  /** Sets a process aside; null where none is to be had at the moment. @throws GatewayError `agent_failed` */
  const decide = (request: LeaseRequest): Assignment | null => {
    const { continues, model, owner, setup } = request;
    const conversation =
      continues === null ? null : conversations.take(continues, { agent: setup.id, key: owner, model });
    const currentProcess = conversation?.process ?? null;
    if (conversation !== null && currentProcess !== null) {
      if (compatible(currentProcess, request)) return { member: markBusy(currentProcess), conversation };
      // Its process answers another request, or is about to end: what was said goes to a new session.
      conversations.keep(continues ?? '', conversation);
      return decide({ ...request, continues: null });
    }
    const putBack = () => {
      if (conversation !== null && continues !== null) conversations.keep(continues, conversation);
      return null;
    };
    const reusable =
      conversation?.folder.home == null && [...members].find((member) => fits(member, request));
    if (reusable) return { member: markBusy(reusable), conversation };
    const own = [...members].filter(({ agent }) => agent === setup.id);
    if (own.length >= setup.maxProcesses) {
      endOne(own);
      return putBack();
    }
    if (members.size >= limits.processes) {
      endOne([...members]);
      return putBack();
    }
    const wait = historyOf(setup.id).backOff.wait();
    if (wait > 0) {
      putBack();
      throw pausing(setup, wait, historyOf(setup.id).error?.message ?? '');
    }
    const member: AgentProcess = {
      agent: setup.id,
      owner,
      launch: launchOf(setup, model),
      single: setup.home === 'session' || Object.keys(setup.routed?.files ?? {}).length > 0,
      state: 'starting',
      connection: null,
      startedAt: now(),
      aborter: new AbortController(),
      closed: Promise.withResolvers(),
      callOff: () => {},
    };
    members.add(member);
    input.onChange(setup.id);
    return { member, conversation };
  };
  const fits = (member: AgentProcess, request: LeaseRequest): boolean =>
    compatible(member, request) && !member.single && conversations.countOf(member) < SESSIONS_PER_PROCESS;
  const markBusy = (member: AgentProcess): AgentProcess => {
    member.state = 'busy';
    member.callOff();
    return member;
  };
  /** Ends the process that has been idle for the longest time; its place is free once it is gone. */
  const endOne = (among: readonly AgentProcess[]) => {
    if (among.some(({ state }) => state === 'stopping')) return;
    const idle = among.find(({ state }) => state === 'idle');
    if (idle !== undefined) void stop(idle);
  };
  function pump(): void {
    for (const waiter of [...waiters]) {
      try {
        const grant = closed ? null : decide(waiter.request);
        if (grant !== null) waiter.resolve(grant);
      } catch (error) {
        waiter.reject(error as GatewayError);
      }
    }
  }

  /** A process that is set aside, now or after a while. */
  const granted = (request: LeaseRequest): Promise<Assignment> => {
    if (closed) throw new GatewayError('shutting_down', 'The gateway is shutting down');
    // Who came before goes first.
    const grant = waiters.length === 0 ? decide(request) : null;
    if (grant !== null) return Promise.resolve(grant);
    if (waiters.length >= limits.waiting) throw busy(request.setup, 'the queue is full');
    const { promise, reject, resolve } = Promise.withResolvers<Assignment>();
    const done = () => {
      callOff();
      request.signal.removeEventListener('abort', onAbort);
      waiters.splice(waiters.indexOf(waiter), 1);
    };
    const waiter: Waiter = {
      request,
      resolve(grant) {
        done();
        resolve(grant);
      },
      reject(error) {
        done();
        reject(error);
      },
    };
    const onAbort = () => waiter.reject(left());
    const callOff = after(limits.waitMs, () =>
      waiter.reject(busy(request.setup, `none was free within ${limits.waitMs / 1000} s`)),
    );
    request.signal.addEventListener('abort', onAbort, { once: true });
    waiters.push(waiter);
    if (waiters.length > 1) pump();
    return promise;
  };

  const connected = async (member: AgentProcess, { model, setup }: LeaseRequest, folder: SessionFolder) => {
    if (member.connection !== null) return member.connection;
    let connection: AgentConnection;
    try {
      connection = await input.connect(setup, folder, model, member.aborter.signal);
    } catch (error) {
      const isWanted = member.state === 'stopping';
      if (!isWanted) failed(member.agent, error instanceof Error ? error.message : String(error));
      remove(member, false);
      throw isWanted ? busy(setup, 'it was stopped') : error;
    }
    member.connection = connection;
    void connection.ended.then(({ how, requested }) => {
      historyOf(member.agent).output = [...connection.output.lines()];
      if (!requested) failed(member.agent, how);
      remove(member, canLoad(connection));
    });
    member.state = 'busy';
    input.onChange(member.agent);
    return connection;
  };
  /** Opens the session of a request on the process that is set aside for it. */
  const opened = async (request: LeaseRequest, { conversation, member }: Assignment): Promise<Lease> => {
    const { model, setup } = request;
    let folder: SessionFolder;
    try {
      folder = conversation?.folder ?? (await input.makeFolder(setup));
    } catch (error) {
      if (member.connection === null) remove(member, false);
      else release(member);
      throw error;
    }
    const giveUp = () => {
      release(member);
      void folder.remove().catch(() => {});
    };
    let connection: AgentConnection;
    let session: OpenSession;
    let hasEarlierTurns = conversation !== null;
    try {
      connection = await connected(member, request, folder);
      if (conversation === null) session = await connection.newSession(folder, model);
      else if (conversation.process === member) session = { id: conversation.sessionId, folder };
      else {
        const loaded = await loadedSession(connection, conversation, model);
        hasEarlierTurns = loaded !== null;
        session = loaded ?? (await connection.newSession(folder, model));
      }
    } catch (error) {
      giveUp();
      throw error;
    }
    return {
      connection,
      session,
      hasEarlierTurns,
      keep(next) {
        historyOf(setup.id).backOff.succeeded();
        const process = members.has(member) && member.state !== 'stopping' ? member : null;
        conversations.keep(next, {
          agent: setup.id,
          key: request.owner,
          model,
          sessionId: session.id,
          folder,
          process,
        });
        release(member);
      },
      drop() {
        void connection.closeSession(session).finally(giveUp);
      },
    };
  };

  return {
    async lease(request) {
      if (request.signal.aborted) throw left();
      const lease = await opened(request, await granted(request));
      if (!request.signal.aborted) return lease;
      lease.drop();
      throw left();
    },
    status(agent) {
      const own = [...members].filter((member) => member.agent === agent);
      const { backOff, error, failures, output } = historyOf(agent);
      return {
        processes: own.flatMap(({ connection, startedAt, state }) =>
          state === 'stopping' ? [] : [{ pid: connection?.pid ?? null, state, startedAt }],
        ),
        waiting: waiters.filter(({ request }) => request.setup.id === agent).length,
        failures,
        error,
        pauseMs: backOff.wait(),
        output: [...output, ...own.flatMap(({ connection }) => connection?.output.lines() ?? [])],
      };
    },
    async end(agent) {
      conversations.forget(agent);
      const own = [...members].filter((member) => member.agent === agent);
      await Promise.all(own.map(stop));
      const history = historyOf(agent);
      history.backOff.reset();
      history.error = null;
    },
    async close() {
      closed = true;
      const error = new GatewayError('shutting_down', 'The gateway is shutting down');
      for (const waiter of [...waiters]) waiter.reject(error);
      await Promise.all([...members].map(stop));
      conversations.forget(null);
    },
  };
}

/** Whether another process of the agent can continue the sessions of this one. */
function canLoad(connection: AgentConnection | null): boolean {
  return connection?.agent.agentCapabilities?.loadSession === true;
}

/** A session of an earlier process in this one; null where the agent does not have it any more. */
async function loadedSession(
  connection: AgentConnection,
  { folder, sessionId }: IdleSession,
  model: string | null,
): Promise<OpenSession | null> {
  if (!canLoad(connection)) return null;
  try {
    return await connection.loadSession(sessionId, folder, model);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'agent_failed') return null;
    throw error;
  }
}

/** What a process is started with. */
function launchOf(setup: AgentSetup, model: string | null): string {
  const { args, binary, capabilities, cwd, env, home, permissions, routed, variables } = setup;
  const argumentModel = setup.model.by === 'argument' ? model : null;
  return JSON.stringify([
    binary,
    args,
    env,
    variables,
    home,
    cwd,
    capabilities,
    permissions,
    routed,
    argumentModel,
  ]);
}

function busy({ id, name }: AgentSetup, why: string): GatewayError {
  return new GatewayError(
    'agent_busy',
    `All processes of the agent ${name} are busy, and ${why}: send the request again, or allow more processes of "${id}"`,
    { retryAfter: RETRY_AFTER },
  );
}

function pausing({ name }: AgentSetup, waitMs: number, why: string): GatewayError {
  const seconds = Math.ceil(waitMs / 1000);
  return new GatewayError(
    'agent_failed',
    `The agent ${name} failed and is started again in ${seconds} s: ${why}`,
    {
      retryAfter: seconds,
    },
  );
}

function left(): GatewayError {
  return new GatewayError('client_closed', 'The client went away');
}
