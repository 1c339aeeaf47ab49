import { checkedAlert } from '../../../alerts/checked-input.ts';
import { rowOfAlert } from '../../../alerts/row.ts';
import { alertKind, newAlertInput } from '../../../alerts/schema.ts';
import { defaultEvents } from '../../../alerts/selection.ts';
import { audited } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import { alertsIn } from '../../resources/alerts.ts';
import { usageError } from '../../terminal/failure.ts';

export const alertsAddCommand: Command = {
  arguments: [
    {
      name: 'kind',
      summary: 'how it is delivered: webhook, slack, email or command',
      required: true,
      choices: alertKind.options,
    },
    {
      name: 'target',
      summary:
        'a URL, addresses with commas between them, or the absolute path of a program; - reads it from stdin',
      required: true,
    },
  ],
  flags: [
    {
      name: 'on',
      value: 'EVENTS',
      summary: `events with commas between them, * for all of a kind (default ${defaultEvents.join(',')})`,
    },
    { name: 'where', value: 'CESQL', summary: 'only those that this expression selects' },
    {
      name: 'digest',
      value: 'TIME',
      summary:
        'after a message, all others of this time come in one: 30s, 5m or 1h (default 5m; 0 sends each by itself)',
    },
    { name: 'name', value: 'NAME', summary: 'a name (default: the kind)' },
    { name: 'arg', value: 'ARG', kind: 'list', summary: 'an argument of the program; may be repeated' },
  ],
  needs: 'store',
  about:
    'The first event is sent at once, and those within the time of the digest in one message at its end. If the receiver does not answer, the gateway retries for some hours. The address is stored encrypted. A running gateway applies it at once. `gateway events types` lists the events.',
  examples: [
    {
      command: 'gateway alerts add slack https://hooks.slack.com/services/T0/B0/x --on budget.exceeded',
      does: 'a message when a budget is used up',
    },
    {
      command:
        'gateway alerts add email ops@example.com --on budget.*,provider.down,request.failed --digest 15m',
      does: 'mails, at most one in 15 minutes',
    },
    {
      command: `gateway alerts add webhook https://example.com/hook --on request.failed --where "status >= 500"`,
      does: 'the events themselves, signed',
    },
    {
      command: 'gateway alerts add command /usr/local/bin/page --arg urgent --on provider.down',
      does: 'runs a program, with the event as JSON on its stdin',
    },
  ],
  run: async (options, context) => {
    const { io } = context;
    const targetArgument = options.argument('target') ?? '';
    const target = targetArgument === '-' ? (await io.readStdin()).trim() : targetArgument;
    const alertInput = checkedAlert(inputOf(options, target), false);
    const alerts = await alertsIn(context);
    const { name, on, where } = alertInput;
    const entry = {
      action: 'alerts.create',
      target: name ?? alertInput.target.kind,
      input: { kind: alertInput.target.kind, on, where },
    };
    const alert = await audited(context, entry, () => alerts.add(alertInput));
    await context.settle();
    const { secret } = alert;
    const document = { ...rowOfAlert(alert), ...(secret === null ? {} : { signing_secret: secret }) };
    io.result(document, () => {
      const signed =
        secret === null ? '' : `\nIt is signed with this secret, which is shown once:\n${secret}`;
      return `Added the alert "${alert.name}". Try it with \`gateway alerts test ${alert.name}\`.${signed}`;
    });
    return 0;
  },
};

function inputOf(options: Options, target: string): Record<string, unknown> {
  const digest = options.text('digest');
  const args = options.texts('arg');
  const parsed = newAlertInput.safeParse({
    kind: options.argument('kind'),
    target,
    ...(args.length === 0 ? {} : { args }),
    ...(options.text('on') === undefined ? {} : { on: listOf(options.text('on') ?? '') }),
    ...(options.text('where') === undefined ? {} : { where: options.text('where') }),
    ...(digest === undefined ? {} : { digest_seconds: secondsOf(digest) }),
    ...(options.text('name') === undefined ? {} : { name: options.text('name') }),
  });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw usageError(`${issue?.path.join('.') ?? 'The alert'}: ${issue?.message ?? 'is not valid'}`);
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

const units = { '': 1, s: 1, m: 60, h: 3_600 } as const;

function secondsOf(text: string): number {
  const parts = /^(\d{1,6})([smh]?)$/.exec(text.trim());
  const unit = parts?.[2];
  if (parts === null || (unit !== '' && unit !== 's' && unit !== 'm' && unit !== 'h'))
    throw usageError(`--digest must be a time like 30s, 5m or 1h, not "${text}"`);
  return Number(parts[1]) * units[unit];
}
