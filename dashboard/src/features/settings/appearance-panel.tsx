import { useTranslation } from 'react-i18next';
import { SelectField } from '../../components/controls/field.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { chooseLanguage } from '../../lib/i18n/i18n.ts';
import { languages } from '../../lib/i18n/languages.ts';
import { type Theme, themes, useTheme, useThemeStore } from '../../lib/theme.ts';

/** Language and theme, which this browser remembers. */
export function AppearancePanel() {
  const { t, i18n } = useTranslation('settings');
  const theme = useTheme();
  const store = useThemeStore();
  return (
    <Panel title={t('appearance')}>
      <div className="grid max-w-xl grid-cols-1 gap-4 sm:grid-cols-2">
        <SelectField
          label={t('common:language')}
          value={i18n.language}
          onChange={(event) => void chooseLanguage(i18n, event.target.value, localStorage)}
          choices={languages.map(({ code, name }) => ({ value: code, label: name }))}
        />
        <SelectField
          label={t('common:theme.label')}
          value={theme}
          onChange={(event) => store.choose(event.target.value as Theme)}
          choices={themes.map((value) => ({ value, label: t(`common:theme.${value}`) }))}
        />
      </div>
    </Panel>
  );
}
