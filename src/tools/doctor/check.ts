/** What was looked at, in this order. The last three need a real request. */
export const checkNames = [
  'Program',
  'Configuration',
  'Environment',
  'Address',
  'Key',
  'Model',
  'Translation',
  'Answer',
  'Streaming',
  'Tool calls',
] as const;

export type CheckName = (typeof checkNames)[number];

/** What came of one look. `warn`: it works, and not as it is meant to. */
export interface Finding {
  status: 'ok' | 'warn' | 'fail';
  /** One sentence; what to do where something is to be done. */
  message: string;
}

export interface Check extends Finding {
  name: CheckName;
}

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warn = (message: string): Finding => ({ status: 'warn', message });
export const fail = (message: string): Finding => ({ status: 'fail', message });
export const unchecked = (reason: string): Finding => warn(`not checked: ${reason}`);
