import { setTimeout as delay } from 'node:timers/promises';
import type { Caller, Outcome } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { LifeCycle, Part } from './part.ts';
import type { StopInput } from './schema.ts';
import type { ServiceRecords } from './store.ts';
import type { Tasks } from './tasks/tasks.ts';

/** A command for a service. */
export type ServiceCommand = { action: 'start' } | { action: 'stop' | 'restart'; input: StopInput };

export interface LifeCycles {
  /**
   * Starts, stops or restarts a part. Waits for a moment, and answers with the task where that does not suffice. What
   * is so already is left as it is.
   * @throws GatewayError `conflict` for a part that does not do that, or does something else just now;
   *   `invalid_request` for what has to be confirmed
   */
  run(part: Part, order: ServiceCommand, caller: Caller): Promise<Outcome>;
  /** How often a part was restarted since the gateway began. */
  restarts(key: string): { count: number; lastAt: number | null };
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

export interface LifeCycleInput {
  records: ServiceRecords;
  tasks: Tasks;
  /** Called with what was done. */
  announce(event: { id: string; action: string; task_id: string; message: string }): void;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

interface Running {
  action: ServiceCommand['action'];
  task: Promise<string>;
  ended: Promise<Outcome>;
}

/** What is done so soon is answered with its end. */
const MOMENT_MS = 500;

export function createLifeCycles(input: LifeCycleInput): LifeCycles {
  const { now, records, report, tasks, announce } = input;
  const running = new Map<string, Running>();
  const restarted = new Map<string, { count: number; lastAt: number | null }>();
  const restarts = (key: string) => restarted.get(key) ?? { count: 0, lastAt: null };

  const carryOut = async (
    task: string,
    part: Part,
    order: ServiceCommand,
    cycle: LifeCycle,
  ): Promise<Outcome> => {
    try {
      const changed = order.action === 'restart' || part.status().desired !== desiredState(order);
      const open = changed && order.action !== 'start' ? cycle.openRequests() : null;
      if (open !== null && open > 0) await tasks.progress(task, 0, `Open requests may finish: ${open}`);
      const done = changed ? await move(part, order, cycle) : { interrupted: 0 };
      const message = sentence(part, order, changed, done.interrupted);
      const result = { changed, ...(order.action === 'start' ? {} : done) };
      await tasks.finish(task, 'Ok', message, result);
      announce({ id: part.id, action: order.action, task_id: task, message });
      return { success: true, message, taskId: task, result };
    } catch (error) {
      const isGatewayError = error instanceof GatewayError;
      if (!isGatewayError) report(error);
      await tasks.finish(task, 'Error', isGatewayError ? error.message : 'It failed; the log has the cause');
      throw error;
    }
  };
  const move = async (
    part: Part,
    order: ServiceCommand,
    cycle: LifeCycle,
  ): Promise<{ interrupted: number }> => {
    if (order.action === 'start') {
      await records.update(part.key, { desired: 'running' });
      await cycle.start();
      return { interrupted: 0 };
    }
    const again = order.action === 'restart';
    await records.update(part.key, { desired: again ? 'running' : 'stopped' });
    const done = await cycle.stop(timeOf(order.input), again);
    if (again) {
      await cycle.start();
      restarted.set(part.key, { count: restarts(part.key).count + 1, lastAt: now() });
    }
    return done;
  };
  const launch = (part: Part, order: ServiceCommand, cycle: LifeCycle, caller: Caller): Running => {
    const task = tasks.begin({
      name: order.action,
      target: `/api/services/${part.id}`,
      userId: caller.userId,
      message: `${order.action} was asked for`,
    });
    const ended = task.then((id) => carryOut(id, part, order, cycle)).finally(() => running.delete(part.key));
    const launched = { action: order.action, task, ended };
    running.set(part.key, launched);
    return launched;
  };

  return {
    restarts,
    async run(part, order, caller) {
      const cycle = movable(part, order);
      const current = running.get(part.key);
      if (current !== undefined && current.action !== order.action)
        throw underWay(part, current, await current.task);
      const { ended, task } = current ?? launch(part, order, cycle, caller);
      const slow = new AbortController();
      const first = await Promise.race([ended, delay(MOMENT_MS, null, { ref: false, signal: slow.signal })]);
      slow.abort();
      if (first !== null && current === undefined) return first;
      const message = `${part.name}: ${order.action} is under way, and the task tells when it is done`;
      return { success: true, message, taskId: await task, result: { changed: current === undefined } };
    },
    async settled() {
      await Promise.allSettled([...running.values()].map(({ ended }) => ended));
    },
  };
}

/** @throws GatewayError */
function movable(part: Part, order: ServiceCommand): LifeCycle {
  const { lifeCycle } = part;
  if (lifeCycle === undefined || (order.action === 'restart' && !lifeCycle.restarts))
    throw actionRefused(part, order);
  if (order.action !== 'start' && lifeCycle.confirm && order.input.confirm !== part.id)
    throw new GatewayError(
      'invalid_request',
      `This cuts off everybody who uses "${part.id}": send "confirm": "${part.id}" with it`,
      { param: 'confirm' },
    );
  return lifeCycle;
}

/** Why a part does not carry out a command. */
export function actionRefused(
  { id, name, status }: Part,
  { action }: Pick<ServiceCommand, 'action'>,
): GatewayError {
  const { reason, state } = status();
  if (state === 'disabled')
    return new GatewayError('conflict', `${name} cannot ${action}: ${reason?.message}`);
  if (id === 'management')
    return new GatewayError(
      'conflict',
      `The management API cannot ${action} through itself: use the service manager of the machine, or \`gateway serve\``,
    );
  return new GatewayError('conflict', `${name} cannot ${action}: it runs as long as the gateway is used`);
}

function underWay({ name }: Part, { action }: Running, task: string): GatewayError {
  return new GatewayError(
    'conflict',
    `${name}: ${action} is still under way as /api/tasks/${task}; try again when that is finished`,
  );
}

/** How long open requests may finish, in milliseconds; undefined for the usual time. */
function timeOf({ drain_seconds, force }: StopInput): number | undefined {
  if (force === true) return 0;
  return drain_seconds === undefined ? undefined : drain_seconds * 1000;
}

function desiredState({ action }: ServiceCommand): 'running' | 'stopped' {
  return action === 'stop' ? 'stopped' : 'running';
}

function sentence({ name }: Part, order: ServiceCommand, changed: boolean, interrupted: number): string {
  const now = desiredState(order);
  if (!changed) return `${name} is ${now} already`;
  const cut = interrupted === 0 ? '' : `; open requests that were ended: ${interrupted}`;
  return order.action === 'restart' ? `${name} was restarted${cut}` : `${name} is ${now}${cut}`;
}
