import { useQuery } from '@tanstack/react-query';
import { Blocks, KeyRound, Server, UserPlus } from 'lucide-react';
import { t } from '../../shared/texts/texts.ts';
import { Step } from '../../shared/ui/display/Step.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { hub, useBlocked } from '../api.ts';

/** What an organization does first. The list disappears when a fleet is connected and a member has joined. */
export function FirstSteps() {
  const blocked = useBlocked();
  const isAllowed = blocked('createApiKey') === undefined;
  const keys = useQuery({ ...hub.read('listApiKeys', { query: {} }), enabled: isAllowed });
  const members = useQuery({ ...hub.read('listMembers', { query: { limit: 2 } }), enabled: isAllowed });
  if (!keys.data || !members.data) return null;
  const usable = keys.data.apiKeys.filter(({ status }) => status === 'active');
  const isConnected = usable.some(({ last_used_at }) => last_used_at !== null);
  const hasMembers = members.data.pagination.total > 1;
  if (isConnected && hasMembers) return null;
  return (
    <div className="situation">
      <Panel title={t('First steps')} flush>
        <ol className="item-list">
          <Step isDone={usable.length > 0} icon={KeyRound} title={t('Create an API key')} href="/keys">
            {t('With it, a fleet copies the templates that your organization can see.')}
          </Step>
          <Step isDone={isConnected} icon={Server} title={t('Connect a fleet')} href="/keys">
            {t(
              'Set the address of this hub and the key in the settings of the fleet. It is done when the key is used.',
            )}
          </Step>
          <Step isDone={hasMembers} icon={UserPlus} title={t('Invite members')} href="/organization">
            {t('A link lets a colleague join, also as a second administrator.')}
          </Step>
          <Step isDone={isConnected} icon={Blocks} title={t('Choose a template')} href="/">
            {t('The fleet offers all templates of the catalog after its sync.')}
          </Step>
        </ol>
      </Panel>
    </div>
  );
}
