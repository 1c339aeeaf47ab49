import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown, Shuffle } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { buttonClass } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { useActivateCombo } from './activate.ts';
import { combosQuery } from './queries.ts';

/** The combo that `auto` means, on every page: one choice lets every tool use another model. */
export function ActiveCombo() {
  const { t } = useTranslation();
  const api = useApi();
  const role = useRole();
  const combos = useQuery(combosQuery(api));
  const activate = useActivateCombo();
  if (combos.data === undefined) return null;
  const { resources } = combos.data;
  const active = resources.find((combo) => combo.active);
  const name = active?.name ?? t('combo.none');
  if (resources.length === 0 || !reaches(role, 'operator'))
    return (
      <Link to="/combos" className={buttonClass('quiet', 'max-w-44 sm:max-w-72')} title={t('combo.active')}>
        <Shuffle size={15} aria-hidden />
        <span className="truncate">{name}</span>
      </Link>
    );
  return (
    <Menu
      label={t('combo.active')}
      trigger={
        <button
          type="button"
          className={buttonClass('secondary', 'max-w-44 sm:max-w-72')}
          title={t('combo.active')}
          aria-label={t('combo.activeIs', { name })}
        >
          <Shuffle size={15} aria-hidden />
          <span className="truncate">{name}</span>
          <ChevronDown size={14} aria-hidden />
        </button>
      }
      items={resources.map((combo) => ({
        key: combo.id,
        label: combo.name,
        selected: combo.active,
        onSelect: () => {
          if (!combo.active) activate.mutate(combo);
        },
      }))}
    />
  );
}
