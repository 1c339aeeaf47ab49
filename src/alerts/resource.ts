import { z } from 'zod';
import type { Action, Caller, Outcome, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { checkedAlert, checkedPatch } from './checked-input.ts';
import { rowOfAlert } from './row.ts';
import { alertChange, alertKind, alertRow, newAlertInput, type OpenAlert } from './schema.ts';
import type { AlertStore } from './store.ts';
import type { AlertTest } from './test-alert.ts';

export interface AlertsInput {
  alerts: AlertStore;
  /** Whether an admin on another machine may set up alerts that run programs. */
  commandsByApi: boolean;
  /** Sends a message to the receiver of an alert. */
  test(alert: OpenAlert): Promise<AlertTest>;
  /** Has the changed alerts take effect. */
  reload(): Promise<void>;
}

/** How often a caller may have messages sent. */
const TESTS_PER_MINUTE = 10;

/** The alerts: which events of the gateway are sent where. */
export function alertsResource({ alerts, commandsByApi, reload, test }: AlertsInput): Resource {
  const find = async (idOrName: string): Promise<Row | null> => {
    const alert = await alerts.find(idOrName);
    return alert === null ? null : rowOfAlert(alert);
  };
  const change = async (row: Row, run: () => Promise<boolean>): Promise<Row> => {
    const changed = (await run()) ? await find(row.id) : null;
    if (changed === null) throw removedMeanwhile(row);
    await reload();
    return changed;
  };
  const switchTo = (paused: boolean): Action => ({
    summary: paused
      ? 'Stops sending. Events in the meantime are not reported later.'
      : 'Continues with events from now on.',
    permission: 'alerts:operate',
    possible: (row) => row['paused'] !== paused,
    preview: async (row) => done(row, paused ? 'would be paused' : 'would send again'),
    async run(row) {
      await change(row, () => alerts.update(row.id, { paused }));
      return done(row, paused ? 'is paused' : 'sends again');
    },
  });
  return {
    name: 'alerts',
    title: 'Alerts',
    summary: 'Alerts about what happens in the gateway, by webhook, Slack, e-mail or a program.',
    record: alertRow,
    read: 'alerts:read',
    list: async () => (await alerts.list()).map(rowOfAlert),
    find,
    create: {
      permission: 'alerts:update',
      perMinute: 60,
      input: newAlertInput,
      secret: z.object({
        signing_secret: z
          .string()
          .optional()
          .describe('The secret that signs the webhook; shown only this once'),
      }),
      secrets: ['target', 'args'],
      async run(input, caller) {
        checkCommand(input['kind'], caller, commandsByApi);
        const alert = await alerts.add(checkedAlert(input, isRemote(caller)));
        await reload();
        const { secret } = alert;
        return { row: rowOfAlert(alert), ...(secret === null ? {} : { secret: { signing_secret: secret } }) };
      },
    },
    update: {
      permission: 'alerts:update',
      input: alertChange,
      secrets: ['target', 'args'],
      async run(row, input, caller) {
        const kind = alertKind.parse(row['kind']);
        if (input['target'] !== undefined) checkCommand(kind, caller, commandsByApi);
        const patch = checkedPatch(input, kind, isRemote(caller));
        return change(row, () => alerts.update(row.id, patch));
      },
    },
    remove: {
      permission: 'alerts:update',
      async run(row) {
        if (!(await alerts.remove(row.id))) throw removedMeanwhile(row);
        await reload();
      },
    },
    actions: {
      pause: switchTo(true),
      resume: switchTo(false),
      test: {
        summary: 'Sends a test message now and returns the receiver’s answer.',
        permission: 'alerts:operate',
        perMinute: TESTS_PER_MINUTE,
        beside: true,
        preview: async (row) => done(row, 'would send a message'),
        async run(row) {
          const alert = await alerts.find(row.id);
          if (alert === null) throw removedMeanwhile(row);
          const { answer, sent } = await test(alert);
          return { success: sent, message: answer };
        },
      },
    },
  };
}

/** The owner of the machine may reach from it whatever they like anyhow. */
function isRemote({ via }: Caller): boolean {
  return via !== 'local';
}

/** @throws GatewayError `forbidden` */
function checkCommand(kind: unknown, caller: Caller, commandsByApi: boolean): void {
  if (kind !== 'command' || commandsByApi || !isRemote(caller)) return;
  throw new GatewayError(
    'forbidden',
    'Programs are set up on the machine itself, with `gateway alerts add command`, unless ALERTS_COMMANDS_BY_API is true',
  );
}

function done(row: Row, what: string): Outcome {
  return { success: true, message: `The alert "${String(row['name'])}" ${what}` };
}

function removedMeanwhile(row: Row): GatewayError {
  return new GatewayError('not_found', `The alert "${String(row['name'])}" was removed in the meantime`);
}
