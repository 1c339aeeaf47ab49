import type { z } from 'zod';
import { RpcError, rpcCodes } from '../protocol/peer.ts';
import {
  createTerminal,
  ofTerminal,
  permissionRequest,
  readTextFile,
  writeTextFile,
} from '../protocol/schema.ts';
import type { AgentSetup } from '../setup.ts';
import { OutsideError } from '../workspace/confined-path.ts';
import type { Terminals } from '../workspace/terminals.ts';
import { TooManyTerminalsError } from '../workspace/terminals.ts';
import { FileTooLargeError, readText, writeText } from '../workspace/text-files.ts';
import { decidePermission, type PermissionAnswer } from './permission-policy.ts';

/** The client side of a session: what its agent may ask for. */
export interface SessionClient {
  setup: Pick<AgentSetup, 'permissions' | 'capabilities'>;
  /** The working directory of the session, without symbolic links. */
  work: string;
  terminals: Terminals;
  /** The kind and title of a tool call that the agent has announced. */
  tool(id: string): { kind: AgentSetup['permissions'][number]; title: string } | null;
  /** Whether the turn that the agent works on was cancelled. */
  isCancelled(): boolean;
  /** Called with what the agent asked to be allowed. */
  onDecision(answer: PermissionAnswer, title: string): void;
  /** Called with what was refused: a path outside, a capability that is not there. */
  onRefusal(what: string): void;
}

/**
 * Answers a request of an agent.
 * @param clientOf the session that it names; null for none of this agent's
 * @throws RpcError
 */
export async function answerAgent(
  method: string,
  params: unknown,
  clientOf: (sessionId: string) => SessionClient | null,
): Promise<unknown> {
  const answer = methods[method];
  if (answer === undefined)
    throw new RpcError(rpcCodes.methodNotFound, `The client has no method ${method.slice(0, 100)}`);
  try {
    return await answer(params, (sessionId) => {
      const client = clientOf(sessionId);
      if (client === null) throw new RpcError(rpcCodes.invalidParams, 'There is no such session');
      return client;
    });
  } catch (error) {
    throw rpcErrorOf(error);
  }
}

type ClientMethod = (params: unknown, clientOf: (sessionId: string) => SessionClient) => Promise<unknown>;

const methods: Readonly<Record<string, ClientMethod>> = {
  async 'session/request_permission'(params, clientOf) {
    const request = read(permissionRequest, params);
    const { onDecision, isCancelled, setup, tool } = clientOf(request.sessionId);
    if (isCancelled()) return { outcome: { outcome: 'cancelled' } };
    const toolCall = tool(request.toolCall.toolCallId);
    const answer = decidePermission(request, setup.permissions, toolCall?.kind ?? null);
    onDecision(answer, request.toolCall.title ?? toolCall?.title ?? 'a tool');
    return { outcome: answer.outcome };
  },
  async 'fs/read_text_file'(params, clientOf) {
    const { limit, line, path, sessionId } = read(readTextFile, params);
    const client = clientOf(sessionId);
    offered(client.setup.capabilities.fs, 'files');
    return {
      content: await confined(client, () => readText(client.work, path, line ?? null, limit ?? null)),
    };
  },
  async 'fs/write_text_file'(params, clientOf) {
    const { content, path, sessionId } = read(writeTextFile, params);
    const client = clientOf(sessionId);
    offered(client.setup.capabilities.fs, 'files');
    if (!client.setup.permissions.includes('edit')) {
      client.onRefusal(`write ${path}`);
      throw new RpcError(rpcCodes.invalidParams, 'The owner of this gateway does not allow edits');
    }
    await confined(client, () => writeText(client.work, path, content));
    return {};
  },
  async 'terminal/create'(params, clientOf) {
    const request = read(createTerminal, params);
    const client = clientOf(request.sessionId);
    offered(mayExecute(client.setup), 'terminals');
    return confined(client, () => client.terminals.create(request));
  },
  async 'terminal/output'(params, clientOf) {
    const { sessionId, terminalId } = read(ofTerminal, params);
    return clientOf(sessionId).terminals.output(terminalId) ?? noTerminal();
  },
  async 'terminal/wait_for_exit'(params, clientOf) {
    const { sessionId, terminalId } = read(ofTerminal, params);
    return (await clientOf(sessionId).terminals.waitForExit(terminalId)) ?? noTerminal();
  },
  async 'terminal/kill'(params, clientOf) {
    const { sessionId, terminalId } = read(ofTerminal, params);
    return clientOf(sessionId).terminals.kill(terminalId) ? {} : noTerminal();
  },
  async 'terminal/release'(params, clientOf) {
    const { sessionId, terminalId } = read(ofTerminal, params);
    return clientOf(sessionId).terminals.release(terminalId) ? {} : noTerminal();
  },
};

/** Whether an agent gets terminals: it can use them, and may run commands. */
export function mayExecute({ capabilities, permissions }: SessionClient['setup']): boolean {
  return capabilities.terminal && permissions.includes('execute');
}

/** Whether an agent may write files through the gateway. */
export function mayWrite({ capabilities, permissions }: SessionClient['setup']): boolean {
  return capabilities.fs && permissions.includes('edit');
}

function read<Value>(schema: z.ZodType<Value>, params: unknown): Value {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RpcError(rpcCodes.invalidParams, `${issue?.path.join('.')}: ${issue?.message}`);
}

function offered(has: boolean, what: string): void {
  if (!has) throw new RpcError(rpcCodes.methodNotFound, `The client offers no ${what}`);
}

function noTerminal(): never {
  throw new RpcError(rpcCodes.resourceNotFound, 'There is no such terminal');
}

async function confined<Value>(client: SessionClient, run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof OutsideError) client.onRefusal(error.message);
    throw error;
  }
}

/** The error for an agent: never with a path that it did not name itself. */
function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (
    error instanceof OutsideError ||
    error instanceof FileTooLargeError ||
    error instanceof TooManyTerminalsError
  )
    return new RpcError(rpcCodes.invalidParams, error.message);
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new RpcError(rpcCodes.resourceNotFound, 'There is no such file');
  if (typeof code === 'string')
    return new RpcError(rpcCodes.internal, `The file system refused it (${code})`);
  return new RpcError(rpcCodes.internal, 'The client failed');
}
