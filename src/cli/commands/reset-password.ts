import { hashPassword } from '../../access/passwords/password.ts';
import { passwordProblem } from '../../access/passwords/policy.ts';
import { userStore } from '../../access/users/users.ts';
import { audited } from '../audit.ts';
import type { Command, Options } from '../command.ts';
import type { Context } from '../context.ts';
import { failure, usageError } from '../terminal/failure.ts';

export const resetPasswordCommand: Command = {
  arguments: [
    { name: 'user', names: 'user', summary: 'name or id of the user (default admin)', required: false },
  ],
  flags: [{ name: 'password-stdin', summary: 'read the new password from stdin' }],
  needs: 'store',
  about:
    'For anyone who has forgotten a password and can read the data directory. All tokens of the user end, and a running gateway accepts the new password at once.',
  examples: [
    { command: 'gateway reset-password', does: 'asks for a new password of admin' },
    {
      command: 'gateway reset-password alice --password-stdin < password.txt',
      does: 'in a script, for another user',
    },
  ],
  run: async (options, context) => {
    const selector = options.argument('user') ?? 'admin';
    const store = await context.existingStore();
    const users = store === null ? null : userStore(store, context.now);
    const user = (await users?.find(selector)) ?? null;
    if (users === null || user === null) {
      const advice = selector === 'admin' ? '`gateway setup` makes it' : 'name one that exists, or `admin`';
      throw failure(1, 'not_found', `There is no user "${selector}": ${advice}`);
    }
    const password = await newPassword(user.name, options, context);
    const hash = await hashPassword(password);
    const entry = { action: 'users.reset_password', target: user.id };
    if (!(await audited(context, entry, () => users.setPassword(user.id, hash))))
      throw failure(1, 'not_found', `The user "${user.name}" was removed by someone else meanwhile.`);
    if (user.disabled)
      context.io.note(`"${user.name}" is disabled, and stays so until an admin enables the user again.`);
    const { disabled, id, name } = user;
    context.io.result(
      { reset: true, user: { id, name, disabled } },
      () => `The password of "${name}" is set, and all tokens of the user have ended.`,
    );
    return 0;
  },
};

async function newPassword(name: string, options: Options, { io }: Context): Promise<string> {
  if (options.on('password-stdin')) {
    const password = await io.readStdin();
    const problem = passwordProblem(password, name);
    if (problem !== undefined) throw usageError(problem);
    return password;
  }
  if (!io.interactive)
    throw usageError(
      'There is no terminal to ask for the new password: repeat the command with --password-stdin',
    );
  const password = await io.ask.secret(`New password of "${name}"`, {
    check: (text) => passwordProblem(text, name),
  });
  if (password !== null) {
    const again = await io.ask.secret('The same password again', {
      check: (text) => (text === password ? undefined : 'That is not the same password'),
    });
    if (again !== null) return password;
  }
  throw failure(1, 'cancelled', 'Cancelled, nothing was changed.');
}
