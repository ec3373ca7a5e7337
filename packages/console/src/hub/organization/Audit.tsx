import { t } from '../../shared/texts/texts.ts';
import { AuditLog } from '../administration/Audit.tsx';

export default function OrganizationAudit() {
  return (
    <AuditLog
      operation="listAccountAuditEntries"
      about={t('Changes of members, invitations and API keys of your organization, newest first')}
    />
  );
}
