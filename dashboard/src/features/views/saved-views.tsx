import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bookmark, BookmarkMinus, BookmarkPlus, Link2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import { copyText } from '../../lib/clipboard.ts';
import { type SavedView, type SavedViewPage, savedViewsQuery } from './queries.ts';
import { SaveView } from './save-view.tsx';
import { searchOf, searchText } from './search-text.ts';

interface SavedViewsProps {
  page: SavedViewPage;
  /** What the page's address carries. */
  search: object;
  /** Whether they are wanted: an open sheet hides them, and what it needs comes first. */
  isWanted?: boolean;
  /** Shows the page with the filters of a view, as its address would have them. */
  onOpen(search: Record<string, string>): void;
}

/** The views of a page that the user saved: to open one, to save what is shown, to share it by its address. */
export function SavedViews({ isWanted = true, onOpen, page, search }: SavedViewsProps) {
  const { t } = useTranslation('views');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [saving, setSaving] = useState(false);
  const views = useQuery({ ...savedViewsQuery(api, page), enabled: isWanted }).data?.resources ?? [];
  const shown = searchText({ ...search });
  const current = views.find((view) => view.search === shown);
  const refresh = () => queries.invalidateQueries({ queryKey: ['views', page] });
  const restore = useMutation({
    mutationFn: ({ name, search: filters }: SavedView) => api.post('views', { page, name, search: filters }),
    onError: (error) => notify(error.message),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: ({ id }: SavedView) => api.remove(`views/${encodeURIComponent(id)}`),
    onSuccess: (_, view) => notify(t('removed', { name: view.name }), () => restore.mutate(view)),
    onError: (error) => notify(error.message),
    onSettled: refresh,
  });
  const share = async () => notify(t((await copyText(location.href)) ? 'copied' : 'common:copyFailed'));
  return (
    <>
      <Menu
        label={t('title')}
        trigger={
          <Button icon={Bookmark}>
            <span className="max-w-40 truncate">{current?.name ?? t('title')}</span>
          </Button>
        }
        items={[
          ...views.map((view) => ({
            key: view.id,
            label: view.name,
            selected: view === current,
            onSelect: () => onOpen(searchOf(view.search)),
          })),
          ...(current === undefined
            ? [{ key: 'save', label: t('save'), icon: BookmarkPlus, onSelect: () => setSaving(true) }]
            : [
                {
                  key: 'remove',
                  label: t('remove', { name: current.name }),
                  icon: BookmarkMinus,
                  danger: true,
                  onSelect: () => remove.mutate(current),
                },
              ]),
          { key: 'share', label: t('share'), icon: Link2, onSelect: () => void share() },
        ]}
      />
      {saving && <SaveView page={page} search={shown} views={views} onClose={() => setSaving(false)} />}
    </>
  );
}
