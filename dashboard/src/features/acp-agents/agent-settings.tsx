import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toolKinds } from '../../../../src/agents/schema.ts';
import { Button } from '../../components/button.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { TextField } from '../../components/field.tsx';
import { useNotify } from '../../components/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import { type AcpAgent, acpAgentsKey } from './queries.ts';

/** What the agent may do without a person who is asked, and whose models it uses. */
export function AgentSettings({ agent }: { agent: AcpAgent }) {
  const { t } = useTranslation('acpAgents');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [permissions, setPermissions] = useState<readonly string[]>(agent.permissions);
  const [throughGateway, setThroughGateway] = useState(agent.through_gateway);
  const [model, setModel] = useState(agent.model ?? '');
  const save = useMutation({
    mutationFn: () =>
      api.patch(`acp_agents/${encodeURIComponent(agent.id)}`, {
        permissions: toolKinds.filter((kind) => permissions.includes(kind)),
        through_gateway: throughGateway,
        model: model.trim() === '' ? null : model.trim(),
      }),
    onSuccess: () => notify(t('saved')),
    onSettled: () => queries.invalidateQueries({ queryKey: acpAgentsKey }),
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
                  setPermissions((before) =>
                    target.checked ? [...before, kind] : before.filter((one) => one !== kind),
                  )
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
            onChange={({ target }) => setThroughGateway(target.checked)}
          />
          {t('throughGateway')}
        </label>
      )}
      <TextField
        label={t('model')}
        hint={t(throughGateway ? 'modelOfGateway' : 'modelHint')}
        disabled={!mayChange}
        value={model}
        onChange={(event) => setModel(event.target.value)}
      />
      {save.isError && <ErrorNotice error={save.error} />}
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
