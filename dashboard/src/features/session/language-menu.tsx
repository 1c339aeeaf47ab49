import { Languages } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { chooseLanguage } from '../../lib/i18n/i18n.ts';
import { languages } from '../../lib/i18n/languages.ts';

/** Chooses the language of the pages; each is named in itself. */
export function LanguageMenu() {
  const { i18n, t } = useTranslation();
  return (
    <Menu
      label={t('language')}
      trigger={<IconButton icon={Languages} label={t('language')} />}
      items={languages.map(({ code, name }) => ({
        key: code,
        label: name,
        language: code,
        selected: i18n.language === code,
        onSelect: () => void chooseLanguage(i18n, code, localStorage),
      }))}
    />
  );
}
