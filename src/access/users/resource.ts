import { z } from 'zod';
import type { Action, Caller, Outcome, Resource, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { AccessParts } from '../access-control.ts';
import { passwordProblem } from '../passwords/policy.ts';
import { hasFreshLogin } from '../permissions.ts';
import { isoTime, isoTimeOrNull } from '../tokens/time.ts';
import { displayName, passwordText, role, type UserRecord, userName } from './schema.ts';

const record = z.object({
  id: z.string(),
  guid: z.string(),
  name: z.string(),
  display_name: z.string().nullable(),
  role,
  disabled: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  password_changed_at: z.string().nullable(),
  last_login_at: z.string().nullable(),
});

const newUser = z.strictObject({
  name: userName,
  password: passwordText,
  role,
  display_name: displayName.nullable().optional(),
});

const change = z
  .strictObject({ role: role.optional(), display_name: displayName.nullable().optional() })
  .refine((fields) => Object.keys(fields).length > 0, 'nothing to change: role and display_name can be');

const newPassword = z.strictObject({
  password: passwordText,
  /** Asked for when it is one's own that is changed. */
  current_password: passwordText.optional(),
});

/**
 * The users of the management API. Everybody sees and serves themselves; admins see and change all. Nobody can shut
 * themselves out, and an enabled admin always remains. All changes but those of names end the user's logins.
 */
export function usersResource(parts: AccessParts): Resource {
  const { now, passwords, users } = parts;
  const visible = (caller: Caller) => (user: UserRecord) =>
    caller.can('users:read') || user.id === caller.userId;
  const rowOf = async (id: string): Promise<Row> => userRow(await existing(parts, id));
  return {
    name: 'users',
    title: 'Users',
    summary:
      'The people who may manage the gateway. Without the permission users:read users see only themselves.',
    record,
    read: 'self:read',
    list: async (caller) => (await users.list()).filter(visible(caller)).map(userRow),
    async find(selector, caller) {
      const user = await users.find(selector);
      if (user !== null && visible(caller)(user)) return userRow(user);
      if (caller.can('users:read')) return null;
      // The same for a user that exists and for one that does not.
      throw new GatewayError(
        'forbidden',
        'To see or change other users, the permission users:read is needed',
      );
    },
    create: {
      permission: 'users:create',
      perMinute: 120,
      input: newUser,
      async run(input, caller) {
        demandFresh(caller, now());
        const newUserInput = newUser.parse(input);
        const password = await hashed(passwords, newUserInput.password, newUserInput.name);
        const displayed = newUserInput.display_name ?? null;
        const user = await users.add({
          ...newUserInput,
          displayName: displayed === '' ? null : displayed,
          password,
        });
        return { row: userRow(user) };
      },
    },
    update: {
      permission: 'users:update',
      input: change,
      async run(row, input, caller) {
        demandFresh(caller, now());
        const { display_name: newDisplayName, role: newRole } = change.parse(input);
        if (newRole !== undefined && newRole !== row['role'])
          demandOther(row, caller, 'change your own role');
        await users.edit(row.id, {
          ...(newRole === undefined ? {} : { role: newRole }),
          ...(newDisplayName === undefined
            ? {}
            : { displayName: newDisplayName === '' ? null : newDisplayName }),
        });
        return rowOf(row.id);
      },
    },
    remove: {
      permission: 'users:delete',
      async run(row, caller) {
        demandFresh(caller, now());
        demandOther(row, caller, 'remove yourself');
        await users.remove(row.id);
      },
    },
    actions: { set_password: setPassword(parts), revoke_sessions: revokeSessions(parts), ...switches(parts) },
  };
}

function setPassword({ logins, now, passwords, users }: AccessParts): Action {
  return {
    summary: 'Sets a new password, and ends all tokens of the user',
    permission: 'self:update',
    perMinute: 30,
    input: newPassword,
    async run(row, input, caller) {
      const passwordInput = newPassword.parse(input);
      const name = String(row['name']);
      if (row.id === caller.userId) {
        if (passwordInput.current_password === undefined)
          throw atFault('current_password', 'your password now is needed');
        const { current_password: password } = passwordInput;
        if ((await logins.login({ name, password }, caller.address))?.id !== row.id)
          throw atFault('current_password', 'this is not your password');
      } else demandRight(caller, now());
      if (passwordInput.password === passwordInput.current_password)
        throw atFault('password', 'this is your password already');
      const hash = await hashed(passwords, passwordInput.password, name);
      if (!(await users.setPassword(row.id, hash))) throw noSuchUser();
      return done('The password is set, and all tokens of the user have ended');
    },
  };
}

function revokeSessions({ now, tokens }: AccessParts): Action {
  return {
    summary: 'Ends all login tokens of the user; without an id, your own',
    permission: 'self:update',
    implied: (caller) => caller.userId,
    async run(row, _input, caller) {
      if (row.id !== caller.userId) demandRight(caller, now());
      const count = await tokens.endSessions(row.id);
      return { ...done(`${count} sessions have ended`), result: { count } };
    },
  };
}

/** `disable` and `enable`. */
function switches({ now, users }: AccessParts): Record<'disable' | 'enable', Action> {
  return {
    disable: {
      summary: 'Disables the user and ends all their tokens',
      permission: 'users:update',
      possible: (row) => row['disabled'] === false,
      async run(row, _input, caller) {
        demandFresh(caller, now());
        demandOther(row, caller, 'disable yourself');
        await users.disable(row.id);
        return done('The user is disabled, and all their tokens have ended');
      },
    },
    enable: {
      summary: 'Enables the user again',
      permission: 'users:update',
      possible: (row) => row['disabled'] === true,
      async run(row, _input, caller) {
        demandFresh(caller, now());
        await users.enable(row.id);
        return done('The user is enabled');
      },
    },
  };
}

async function hashed(passwords: AccessParts['passwords'], password: string, name: string): Promise<string> {
  const problem = passwordProblem(password, name);
  if (problem !== undefined) throw atFault('password', problem);
  return passwords.hash(password);
}

/** @throws GatewayError `reauthentication_required` */
function demandFresh(caller: Caller, now: number): void {
  if (!hasFreshLogin(caller, now))
    throw new GatewayError(
      'reauthentication_required',
      'This needs a password that was given within the last five minutes: log in again',
    );
}

/** The right to change another user. */
function demandRight(caller: Caller, now: number): void {
  if (!caller.can('users:update'))
    throw new GatewayError('forbidden', 'To do this for another user, the permission users:update is needed');
  demandFresh(caller, now);
}

function demandOther(row: Row, caller: Caller, what: string): void {
  if (row.id === caller.userId)
    throw new GatewayError('conflict', `You cannot ${what}: let another admin do it`);
}

async function existing({ users }: AccessParts, id: string): Promise<UserRecord> {
  const user = await users.find(id);
  if (user === null) throw noSuchUser();
  return user;
}

function noSuchUser(): GatewayError {
  return new GatewayError('not_found', 'This user no longer exists');
}

function atFault(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

function done(message: string): Outcome {
  return { success: true, message };
}

/** A user as it is shown: all but the password's hash and what only the gateway counts. */
function userRow(user: UserRecord): Row {
  return {
    id: user.id,
    guid: user.guid,
    name: user.name,
    display_name: user.displayName,
    role: user.role,
    disabled: user.disabled,
    created_at: isoTime(user.createdAt),
    updated_at: isoTime(user.updatedAt),
    password_changed_at: isoTimeOrNull(user.passwordChangedAt),
    last_login_at: isoTimeOrNull(user.lastLoginAt),
  };
}
