import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Code, Plus, Send, Square } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Select, TextAreaField, TextField } from '../../components/controls/field.tsx';
import { classNames } from '../../components/layout/class-names.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { AnswerPane } from '../../features/playground/answer-pane.tsx';
import { type Answer, ask, noAnswer } from '../../features/playground/ask.ts';
import { CodeDialog } from '../../features/playground/code-dialog.tsx';
import { ForgetKey } from '../../features/playground/forget-key.tsx';
import { usePlaygroundKey } from '../../features/playground/key.ts';
import { KeyPanel } from '../../features/playground/key-panel.tsx';
import { type Place, type PlaygroundSearch, places } from '../../features/playground/search.ts';
import { useApi } from '../../lib/api/client.ts';
import { modelIdsQuery } from '../../lib/api/model-ids.ts';
import type { Prompt } from '../../lib/wire-formats/formats.ts';
import { type FormatName, formatNames } from '../../lib/wire-formats/names.ts';

const route = getRouteApi('/playground');
const DEFAULT_MODEL = 'demo/echo';

/** One prompt to one, two or three models side by side, as a client would send it. */
export function PlaygroundPage() {
  const { t } = useTranslation('playground');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const key = usePlaygroundKey();
  const list = useId();
  const ids = useQuery(modelIdsQuery(api)).data?.resources ?? [];
  const [text, setText] = useState('');
  const [system, setSystem] = useState('');
  const [most, setMost] = useState('');
  const [answers, setAnswers] = useState<Readonly<Partial<Record<Place, Answer>>>>({});
  const [showsCode, setShowsCode] = useState(false);
  const asking = useRef<AbortController | null>(null);
  useEffect(() => () => asking.current?.abort(), []);

  const { format = 'openai-chat' } = search;
  const shown = places.filter((place) => place === 'a' || search[place] !== undefined);
  const modelAt = (place: Place) => search[place] ?? (place === 'a' ? DEFAULT_MODEL : '');
  const change = (next: Partial<PlaygroundSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const promptFor = (place: Place): Prompt => ({
    model: modelAt(place).trim(),
    system: system.trim(),
    text: text.trim(),
    stream: true,
    maxTokens: /^[1-9]\d*$/.test(most.trim()) ? Number(most) : null,
  });
  const busy = Object.values(answers).some(({ state }) => state === 'asking' || state === 'streaming');
  const whyNot =
    key === null
      ? t('needsKey')
      : text.trim() === ''
        ? t('needsPrompt')
        : shown.some((place) => modelAt(place).trim() === '')
          ? t('needsModel')
          : null;
  const send = () => {
    if (key === null || whyNot !== null || busy) return;
    const stop = new AbortController();
    asking.current = stop;
    setAnswers(Object.fromEntries(shown.map((place) => [place, noAnswer])));
    for (const place of shown)
      void ask({
        prompt: promptFor(place),
        format,
        key: key.text,
        signal: stop.signal,
        changed: (answer) => setAnswers((before) => ({ ...before, [place]: answer })),
      });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      send();
    }
  };
  const free = places.find((place) => !shown.includes(place));
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <>
            <Select
              label={t('format')}
              value={format}
              choices={formatNames.map((value) => ({ value: value as string, label: t(`formats.${value}`) }))}
              onChange={({ target }) => change({ format: target.value as FormatName })}
            />
            <Button icon={Code} onClick={() => setShowsCode(true)}>
              {t('code.open')}
            </Button>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        {key === null && <KeyPanel />}
        <Panel>
          <div className="flex flex-col gap-3">
            <TextAreaField
              label={t('prompt')}
              rows={4}
              value={text}
              onChange={({ target }) => setText(target.value as string)}
              onKeyDown={onKey}
            />
            <details>
              <summary className="w-fit text-muted text-sm">{t('more')}</summary>
              <div className="mt-2 grid gap-3 sm:grid-cols-[1fr_12rem]">
                <TextAreaField
                  label={t('system')}
                  rows={2}
                  value={system}
                  onChange={({ target }) => setSystem(target.value as string)}
                />
                <TextField
                  label={t('maxTokens')}
                  inputMode="numeric"
                  value={most}
                  onChange={({ target }) => setMost(target.value)}
                />
              </div>
            </details>
            <div className="flex flex-wrap items-center gap-2">
              {busy ? (
                <Button icon={Square} onClick={() => asking.current?.abort()}>
                  {t('stop')}
                </Button>
              ) : (
                <Button variant="primary" icon={Send} onClick={send} disabledReason={whyNot}>
                  {t('send')}
                </Button>
              )}
              <span className="text-muted text-xs">{whyNot ?? t('sendHint')}</span>
              {key !== null && <ForgetKey playgroundKey={key} />}
            </div>
          </div>
        </Panel>
        <div
          className={classNames(
            'grid gap-4',
            shown.length === 2 && 'lg:grid-cols-2',
            shown.length === 3 && 'lg:grid-cols-3',
          )}
        >
          {shown.map((place, index) => (
            <AnswerPane
              key={place}
              label={t('pane', { number: index + 1 })}
              list={list}
              model={modelAt(place)}
              onModel={(model) => change({ [place]: model })}
              onRemove={
                place === 'a'
                  ? undefined
                  : () => {
                      change({ [place]: undefined });
                      setAnswers(({ [place]: _, ...others }) => others);
                    }
              }
              answer={answers[place]}
            />
          ))}
        </div>
        {free !== undefined && (
          <Button
            icon={Plus}
            className="self-start"
            onClick={() => change({ [free]: ids[0]?.id ?? DEFAULT_MODEL })}
          >
            {t('add')}
          </Button>
        )}
        <datalist id={list}>
          {ids.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
      </div>
      {showsCode && (
        <CodeDialog format={format} prompt={promptFor('a')} onClose={() => setShowsCode(false)} />
      )}
    </>
  );
}
