import { useTranslation } from 'react-i18next';
import { SelectField } from '../../components/controls/field.tsx';
import type { Connection } from './queries.ts';

type Billing = Connection['billing'];

interface BillingFieldProps {
  value: Billing;
  onChange(billing: Billing): void;
}

/** How the provider charges for an account, which decides what its requests cost. */
export function BillingField({ onChange, value }: BillingFieldProps) {
  const { t } = useTranslation('connections');
  return (
    <SelectField
      label={t('billing.title')}
      hint={t(`billing.${value}Hint`)}
      value={value}
      onChange={({ target }) => onChange(target.value === 'plan' ? 'plan' : 'metered')}
      choices={(['metered', 'plan'] as const).map((one) => ({ value: one, label: t(`billing.${one}`) }))}
    />
  );
}
