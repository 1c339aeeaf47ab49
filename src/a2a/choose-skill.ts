import { GatewayError } from '../lib/error.ts';
import type { Skill, SkillId, SkillInput } from './skill.ts';

/**
 * Which skill a message is for: the one that `metadata.skill` names; else a model, for who sent a gateway key; else an
 * explanation where the text has the id of a request, and a report where it has none.
 * @throws GatewayError for a skill that there is not, and for one that needs another login
 */
export function chooseSkill(
  skills: Readonly<Record<SkillId, Skill>>,
  { identity, metadata, text }: Pick<SkillInput, 'identity' | 'metadata' | 'text'>,
): Skill {
  const id = idOf(metadata['skill']) ?? usual(identity, text);
  const skill = skills[id];
  if (skill.needs === 'key' && identity.key === null)
    throw new GatewayError(
      'forbidden',
      `The skill ${id} needs a gateway key: send it as x-api-key, or as Bearer`,
    );
  if (skill.needs === 'caller' && identity.caller === null)
    throw new GatewayError(
      'forbidden',
      `The skill ${id} needs a login of the management API: send its token as X-Auth-Token`,
    );
  return skill;
}

function usual({ key }: SkillInput['identity'], text: string): SkillId {
  if (key !== null) return 'ask-a-model';
  return text.includes('req_') ? 'explain' : 'report';
}

function idOf(named: unknown): SkillId | null {
  switch (named) {
    case undefined:
      return null;
    case 'ask-a-model':
    case 'explain':
    case 'report':
      return named;
    default:
      throw new GatewayError('invalid_request', 'metadata.skill must be ask-a-model, explain or report');
  }
}
