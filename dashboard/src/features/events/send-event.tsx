import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { SelectField, TextAreaField, TextField } from '../../components/controls/field.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { useApi } from '../../lib/api/client.ts';
import { type EventConfig, eventConfigQuery } from './queries.ts';

interface Receipts {
  events: { id: string; source: string; outcome: string }[];
}

/** Sends one event to a source that takes events by HTTP, and says what came of it. */
export function SendEvent({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('events');
  const config = useQuery(eventConfigQuery(useApi()));
  return (
    <Dialog open onClose={onClose} title={t('send.title')} description={t('send.what')}>
      <QueryState query={config} lines={5}>
        {(data) => {
          const sources = openSources(data);
          return sources.length === 0 ? (
            <p className="pb-4">{t('send.noSource')}</p>
          ) : (
            <SendForm sources={sources} onClose={onClose} />
          );
        }}
      </QueryState>
    </Dialog>
  );
}

/** Those whose events come by HTTP; those of the gateway come from itself. */
function openSources({ components }: EventConfig): string[] {
  return (components?.sources ?? []).flatMap(({ ref }) =>
    ref?.uniqueId === undefined || ref.kind?.toLowerCase() === 'gateway' ? [] : [ref.uniqueId],
  );
}

function SendForm({ sources, onClose }: { sources: readonly string[]; onClose(): void }) {
  const { t } = useTranslation('events');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [source, setSource] = useState(sources[0] ?? '');
  const [type, setType] = useState('com.example.test');
  const [subject, setSubject] = useState('');
  const [data, setData] = useState('{}');
  const parsed = parse(data);
  const send = useMutation({
    mutationFn: () => {
      const event = {
        specversion: '1.0',
        // `crypto.randomUUID` is missing on plain HTTP.
        id: `test-${Date.now().toString(36)}-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}`,
        source: '/dashboard',
        type: type.trim(),
        time: new Date().toISOString(),
        ...(subject.trim() === '' ? {} : { subject: subject.trim() }),
        ...(parsed === undefined ? {} : { datacontenttype: 'application/json', data: parsed }),
      };
      return api.post<Receipts>('events', event, {
        query: { source },
        headers: { 'content-type': 'application/cloudevents+json' },
      });
    },
    onSuccess: async ({ events: [receipt] }) => {
      const outcome = receipt?.outcome ?? 'unknown';
      notify(t('send.done', { outcome: t(`result.${outcome}`) }));
      onClose();
      await queries.invalidateQueries({ queryKey: ['events', 'status'] });
    },
  });
  return (
    <form
      className="flex flex-col gap-3 pb-3"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <SelectField
        label={t('kind.source.one')}
        value={source}
        onChange={(event) => setSource(event.target.value)}
        choices={sources.map((value) => ({ value, label: value }))}
      />
      <TextField
        label={t('column.type')}
        hint={t('send.typeHint')}
        value={type}
        onChange={(event) => setType(event.target.value)}
        required
      />
      <TextField
        label={t('send.subject')}
        value={subject}
        onChange={(event) => setSubject(event.target.value)}
      />
      <TextAreaField
        label={t('send.data')}
        rows={5}
        spellCheck={false}
        className="font-mono text-xs"
        value={data}
        onChange={(event) => setData(event.target.value)}
        error={parsed === null && data.trim() !== 'null' ? t('send.notJson') : undefined}
      />
      {send.isError && <ErrorNotice error={send.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common:cancel')}</Button>
        <Button
          type="submit"
          variant="primary"
          busy={send.isPending}
          disabledReason={parsed === null && data.trim() !== 'null' ? t('send.notJson') : null}
        >
          {t('send.submit')}
        </Button>
      </div>
    </form>
  );
}

/** The data of an event; undefined for none, null for what is no JSON. */
function parse(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
