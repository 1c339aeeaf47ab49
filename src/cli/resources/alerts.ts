import type { OpenAlert } from '../../alerts/schema.ts';
import { type AlertStore, alertStore } from '../../alerts/store.ts';
import type { Context } from '../context.ts';
import { failure } from '../terminal/failure.ts';

/** The alerts of the data directory, for one who stores some: the first makes the key. */
export async function alertsIn({ now, store, usableKey }: Context): Promise<AlertStore> {
  const opened = await store();
  return alertStore(opened, (await usableKey()).key, now);
}

/** All alerts; none where there is no database yet. */
export async function listAlerts({ existingStore, sealingKey }: Context): Promise<OpenAlert[]> {
  const store = await existingStore();
  return store === null ? [] : alertStore(store, (await sealingKey()).key).list();
}

/** The alert of an id or a name. @throws Failure when there is none */
export async function alertNamed(selector: string, context: Context): Promise<OpenAlert> {
  const alerts = await listAlerts(context);
  const alert = alerts.find(({ id }) => id === selector) ?? alerts.find(({ name }) => name === selector);
  if (alert !== undefined) return alert;
  throw failure(
    1,
    'not_found',
    `There is no alert "${selector}": \`gateway alerts list\` shows what there is`,
  );
}
