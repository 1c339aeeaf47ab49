import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toolKinds } from '../../../../src/agents/schema.ts';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { SaveProblem } from '../../components/dialogs/save-problem.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useChange } from '../../lib/api/change.ts';
import { allows } from '../../lib/api/client.ts';
import { type AcpAgent, acpAgentsKey } from './queries.ts';

interface Values {
  permissions: readonly string[];
  throughGateway: boolean;
  model: string;
}

/** What stands in the form, and the agent as it was when somebody began to change it. */
interface Edited {
  from: AcpAgent;
  values: Values;
}

/** What the agent may do without a person who is asked, and whose models it uses. */
export function AgentSettings({ agent }: { agent: AcpAgent }) {
  const { t } = useTranslation('acpAgents');
  const queries = useQueryClient();
  const notify = useNotify();
  const change = useChange('acp_agents', fieldsOf);
  const [edited, setEdited] = useState<Edited | null>(null);
  // Until it is touched, the form follows what the page loads.
  const { from, values } = edited ?? { from: agent, values: valuesOf(agent) };
  const { model, permissions, throughGateway } = values;
  const set = (part: Partial<Values>) => setEdited({ from, values: { ...values, ...part } });
  const save = useMutation({
    mutationFn: () => change.send(from, changesOf(from, values)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: acpAgentsKey });
      setEdited(null);
      notify(t('saved'));
    },
    onError: () => queries.invalidateQueries({ queryKey: acpAgentsKey }),
  });
  const mayChange = allows(agent, 'edit');
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <fieldset disabled={!mayChange} className="flex flex-col gap-2">
        <legend className="mb-1 font-medium">{t('permissions.title')}</legend>
        <p className="text-muted text-xs">{t('permissions.hint')}</p>
        <div className="flex flex-wrap gap-x-5 gap-y-1.5">
          {toolKinds.map((kind) => (
            <label key={kind} className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={permissions.includes(kind)}
                onChange={({ target }) =>
                  set({
                    permissions: target.checked
                      ? [...permissions, kind]
                      : permissions.filter((one) => one !== kind),
                  })
                }
              />
              {t(`permissions.kind.${kind}`)}
            </label>
          ))}
        </div>
      </fieldset>
      {agent.can_use_gateway && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            disabled={!mayChange}
            checked={throughGateway}
            onChange={({ target }) => set({ throughGateway: target.checked })}
          />
          {t('throughGateway')}
        </label>
      )}
      <TextField
        label={t('model')}
        hint={t(throughGateway ? 'modelOfGateway' : 'modelHint')}
        disabled={!mayChange}
        value={model}
        onChange={(event) => set({ model: event.target.value })}
      />
      {save.isError && (
        <SaveProblem
          error={save.error}
          edit={change}
          labels={{
            permissions: t('permissions.title'),
            through_gateway: t('throughGateway'),
            model: t('model'),
          }}
          onReload={() => {
            setEdited(null);
            save.reset();
          }}
          onKeep={() => save.mutate()}
        />
      )}
      <span>
        <Button
          type="submit"
          busy={save.isPending}
          disabledReason={mayChange ? null : t('common:needsRole', { role: t('common:role.admin') })}
        >
          {t('save')}
        </Button>
      </span>
    </form>
  );
}

function fieldsOf({ model, permissions, through_gateway }: AcpAgent) {
  return {
    permissions: toolKinds.filter((kind) => permissions.includes(kind)),
    through_gateway,
    model,
  };
}

function valuesOf(agent: AcpAgent): Values {
  return {
    permissions: agent.permissions,
    throughGateway: agent.through_gateway,
    model: agent.model ?? '',
  };
}

/** Only what differs from what was read. */
function changesOf(agent: AcpAgent, { model, permissions, throughGateway }: Values) {
  const before: Record<string, unknown> = fieldsOf(agent);
  const after = {
    permissions: toolKinds.filter((kind) => permissions.includes(kind)),
    through_gateway: throughGateway,
    model: model.trim() === '' ? null : model.trim(),
  };
  return Object.fromEntries(
    Object.entries(after).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field])),
  );
}
