import { useMutation, useQuery } from '@tanstack/react-query';
import { MailPlus, Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { tierLabel } from '../../shared/catalog/tiers.ts';
import { rich, t } from '../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../shared/ui/controls/Button.tsx';
import { FilterSelect, SelectField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { ConfirmDialog } from '../../shared/ui/dialogs/Dialog.tsx';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../../shared/ui/dialogs/ShownOnceDialog.tsx';
import { looks, Status } from '../../shared/ui/display/Status.tsx';
import { Time } from '../../shared/ui/display/Time.tsx';
import { FormError } from '../../shared/ui/feedback/FormError.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { EndingCredentials } from '../../shared/ui/lists/EndingCredentials.tsx';
import { Table } from '../../shared/ui/lists/Table.tsx';
import { PageHeader, Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type HubOutput, hub, useBlocked, useCaller } from '../api.ts';
import { organizationLook } from '../looks.ts';
import { orgRoles, roleLabel } from '../roles.ts';
import { FirstSteps } from './FirstSteps.tsx';
import { forgetInvitation, invitationCode, invitationLink } from './invitation.ts';
import { RequestAccessButton } from './RequestAccess.tsx';

type Member = HubOutput<'listMembers'>['members'][number];
type AccessRequest = HubOutput<'listAccessRequests'>['requests'][number];
type OrgRole = Member['org_role'];

const MAX_SHOWN = 100;

const tabs = [
  { id: 'members', label: t('Members') },
  { id: 'access', label: t('Access requests') },
] as const;

export default function Organization() {
  const user = useCaller();
  const tab = useTab(tabs);
  const isMember = user.organization !== null;
  useEffect(() => {
    if (isMember) forgetInvitation(); // a member cannot accept it
  }, [isMember]);
  if (!user.organization) return <NoOrganization />;
  const { organization } = user;
  return (
    <>
      <PageHeader
        title={organization.name}
        beside={
          <>
            <Status {...organizationLook(organization)} />
            <span className="tag">{tierLabel(organization.tier)}</span>
          </>
        }
        about={<code>{organization.slug}</code>}
        actions={<ButtonLink href="/keys">{t('API keys')}</ButtonLink>}
      />
      {organization.status === 'suspended' && (
        <div className="situation">
          <Notice kind="warning" title={t('The organization is suspended')}>
            <p>{t('You have read access only, and fleets cannot sync. Contact the administrators of the hub.')}</p>
          </Notice>
        </div>
      )}
      <FirstSteps />
      <Tabs label={t('Parts of the organization')} tabs={tabs} current={tab} path="/organization" />
      {tab === 'members' && <Members ownId={user.id} />}
      {tab === 'access' && <AccessRequests />}
    </>
  );
}

function NoOrganization() {
  const [isInvited, setInvited] = useState(() => invitationCode() !== '');
  const form = useForm({ name: '', slug: '' });
  const join = useForm(() => ({ code: invitationCode() }));
  const blocked = useBlocked();
  const create = useMutation({
    ...hub.change('createOrganization', 'auth'),
    onSuccess: ({ organization }) => confirmChange(t('Organization {name} is created', { name: organization.name })),
  });
  const accept = useMutation({
    ...hub.change('joinOrganization', 'auth'),
    onSuccess: ({ organization }) => {
      forgetInvitation();
      confirmChange(t('You belong to {name}', { name: organization.name }));
    },
  });
  const errorAt = form.errorsOf(create.error);
  return (
    <>
      <PageHeader title={t('Organization')} about={t('You belong to no organization yet')} />
      <div className="columns">
        <Panel title={t('Create an organization')}>
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault();
              const { name, slug } = form.values;
              create.mutate({ body: slug === '' ? { name } : { name, slug } });
            }}
          >
            <TextField {...form.bind('name')} label={t('Name')} required error={errorAt('name')} />
            <TextField
              {...form.bind('slug')}
              label={t('Slug')}
              hint={t('Empty: derived from the name. It cannot be changed later.')}
              mono
              error={errorAt('slug')}
            />
            <FormError error={create.error} shown={['name', 'slug']} />
            <div className="actions">
              <Button type="submit" tone="primary" pending={create.isPending} blocked={blocked('createOrganization')}>
                {t('Create')}
              </Button>
            </div>
          </form>
        </Panel>
        <Panel title={t('Join with an invitation')}>
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault();
              accept.mutate({ body: join.values });
            }}
          >
            <TextField
              {...join.bind('code')}
              label={t('Code of the invitation')}
              mono
              error={join.errorsOf(accept.error)('code')}
            />
            <FormError error={accept.error} shown={['code']} />
            <div className="actions">
              <Button type="submit" pending={accept.isPending} blocked={blocked('joinOrganization')}>
                {t('Join')}
              </Button>
              {isInvited && (
                <Button
                  onClick={() => {
                    forgetInvitation();
                    setInvited(false);
                    join.reset({ code: '' });
                  }}
                >
                  {t('Decline')}
                </Button>
              )}
            </div>
          </form>
        </Panel>
      </div>
    </>
  );
}

function Members({ ownId }: { readonly ownId: string }) {
  const members = useQuery(hub.read('listMembers', { query: { limit: MAX_SHOWN } }));
  const blocked = useBlocked();
  const noInvitations = blocked('inviteMember');
  const invitations = useQuery({
    ...hub.read('listInvitations', { query: { limit: MAX_SHOWN } }),
    enabled: noInvitations === undefined,
  });
  const update = useMutation({
    ...hub.change('updateMember'),
    onSuccess: () => confirmChange(t('The role is changed')),
  });
  const withdraw = useMutation({
    ...hub.change('withdrawInvitation'),
    onSuccess: () => confirmChange(t('The invitation is withdrawn')),
  });
  const [isInviting, setInviting] = useState(false);
  const [ended, setEnded] = useState<Ended>();
  const error = members.error ?? update.error ?? withdraw.error;
  return (
    <div className="stack">
      {error && <ErrorView error={error} retry={members.refetch} />}
      <Panel
        title={t('Members')}
        flush
        actions={
          <Button
            tone="primary"
            icon={MailPlus}
            blocked={noInvitations}
            aria-haspopup="dialog"
            onClick={() => setInviting(true)}
          >
            {t('Invite')}
          </Button>
        }
      >
        {!members.data && !members.error && <Loading text={t('Loading the members…')} />}
        {members.data && (
          <Table
            label={t('Members')}
            columns={[
              { label: t('Name') },
              { label: t('E-mail') },
              { label: t('Role') },
              { label: t('Actions'), isHidden: true },
            ]}
          >
            {members.data.members.map((member) => (
              <tr key={member.id}>
                <th scope="row">
                  <bdi>{member.name}</bdi> {member.id === ownId && <span className="tag">{t('you')}</span>}
                </th>
                <td>{member.email ?? <span className="muted">{t('none')}</span>}</td>
                <td>
                  {blocked('updateMember') ? (
                    roleLabel(member.org_role)
                  ) : (
                    <FilterSelect
                      label={t('Role of {name}', { name: member.name })}
                      value={member.org_role}
                      options={orgRoles}
                      onChange={(role) => {
                        if (role === 'org_admin')
                          update.mutate({ params: { id: member.id }, body: { org_role: role } });
                        else setEnded({ member, isRemoved: false });
                      }}
                    />
                  )}
                </td>
                <td className="end">
                  <Button
                    size="small"
                    tone="danger"
                    icon={Trash2}
                    label={t('Remove {name}', { name: member.name })}
                    blocked={blocked('removeMember')}
                    aria-haspopup="dialog"
                    onClick={() => setEnded({ member, isRemoved: true })}
                  />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Panel>
      {invitations.data && invitations.data.invitations.length > 0 && (
        <Panel title={t('Open invitations')} flush>
          <Table
            label={t('Open invitations')}
            columns={[
              { label: t('E-mail') },
              { label: t('Role') },
              { label: t('Expires') },
              { label: t('Actions'), isHidden: true },
            ]}
          >
            {invitations.data.invitations.map((invitation) => (
              <tr key={invitation.id}>
                <th scope="row">{invitation.email ?? t('anybody with the code')}</th>
                <td>{roleLabel(invitation.org_role)}</td>
                <td className="muted">
                  <Time at={invitation.expires_at} isUpcoming />
                </td>
                <td className="end">
                  <Button size="small" onClick={() => withdraw.mutate({ params: { id: invitation.id } })}>
                    {t('Withdraw')}
                  </Button>
                </td>
              </tr>
            ))}
          </Table>
        </Panel>
      )}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {ended && <EndDialog {...ended} onClose={() => setEnded(undefined)} />}
    </div>
  );
}

function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({ email: '', org_role: 'member' as OrgRole }); // widens the literal
  const invite = useMutation({ ...hub.change('inviteMember'), gcTime: 0 });
  const errorAt = form.errorsOf(invite.error);
  if (invite.data) {
    const { code, expires_at } = invite.data.invitation;
    const link = invitationLink(code);
    return (
      <ShownOnceDialog
        title={t('Send this link')}
        about={rich('It can be used once, and expires {time}.', { time: <Time at={expires_at} isUpcoming /> })}
        onClose={onClose}
      >
        <CopyLine text={link} action={t('Copy link')} />
      </ShownOnceDialog>
    );
  }
  return (
    <FormDialog
      title={t('Invite a member')}
      action={t('Create the link')}
      pending={invite.isPending}
      error={invite.error}
      shown={['email', 'org_role']}
      onClose={onClose}
      onSubmit={() => {
        const { email, org_role } = form.values;
        invite.mutate({ body: { email: email === '' ? null : email, org_role } });
      }}
    >
      <TextField
        {...form.bind('email')}
        label={t('E-mail')}
        type="email"
        hint={t('Only this user can accept. Empty: everybody with the link.')}
        error={errorAt('email')}
      />
      <SelectField {...form.bind('org_role')} label={t('Role')} options={orgRoles} error={errorAt('org_role')} />
    </FormDialog>
  );
}

interface Ended {
  readonly member: Member;
  /** Otherwise, the member is no longer an org_admin. */
  readonly isRemoved: boolean;
}

/** Removes a member, or gives an org_admin the role member. The keys of an org_admin are listed. */
function EndDialog({ member: { id, name }, isRemoved, onClose }: Ended & { readonly onClose: () => void }) {
  const { data } = useQuery(hub.read('listApiKeys', { query: {} }));
  const keys = data?.apiKeys.filter(({ owner, status }) => owner?.id === id && status !== 'revoked') ?? [];
  const [keeps, setKeeps] = useState(false);
  const onSuccess = () => {
    confirmChange(isRemoved ? t('{name} is removed', { name }) : t('The role is changed'));
    onClose();
  };
  const remove = useMutation({ ...hub.change('removeMember'), onSuccess });
  const update = useMutation({ ...hub.change('updateMember'), onSuccess });
  const chosen = keeps ? 'keep' : 'revoke';
  const confirm = () =>
    isRemoved
      ? remove.mutate({ params: { id }, query: { keys: chosen } })
      : update.mutate({ params: { id }, body: { org_role: 'member', keys: chosen } });
  return (
    <ConfirmDialog
      title={isRemoved ? t('Remove {name}?', { name }) : t('Make {name} a member?', { name })}
      action={isRemoved ? t('Remove') : t('Change the role')}
      pending={remove.isPending || update.isPending}
      error={remove.error ?? update.error}
      onClose={onClose}
      onConfirm={confirm}
    >
      <p>
        {isRemoved
          ? t('The user loses the access of the organization. Open invitations of the user are withdrawn.')
          : t('The user can no longer manage members and API keys. Open invitations of the user are withdrawn.')}
      </p>
      {keys.length > 0 && (
        <EndingCredentials
          about={t(
            '{count, plural, one {# API key of the user is revoked:} other {# API keys of the user are revoked:}}',
            {
              count: keys.length,
            },
          )}
          credentials={keys}
          keepLabel={t('Keep these keys. They are then yours.')}
          keeps={keeps}
          onKeep={setKeeps}
        />
      )}
    </ConfirmDialog>
  );
}

const requestLooks: Readonly<Record<AccessRequest['status'], ReturnType<typeof looks.good>>> = {
  open: looks.waiting(t('Open')),
  granted: looks.good(t('Granted')),
  declined: looks.off(t('Declined')),
};

function AccessRequests() {
  const { data, error, refetch } = useQuery(hub.read('listAccessRequests', { query: { limit: MAX_SHOWN } }));
  return (
    <Panel title={t('Requests')} flush actions={<RequestAccessButton />}>
      {error && <ErrorView error={error} retry={refetch} />}
      {!data && !error && <Loading text={t('Loading the requests…')} />}
      {data?.requests.length === 0 && <p className="body muted">{t('Your organization has requested nothing yet.')}</p>}
      <ul className="item-list">
        {data?.requests.map((one) => (
          <li key={one.id} className="stack-small">
            <span className="spread">
              <span className="row">
                <code className="strong">{one.category_slug ?? one.template_slug}</code>
                <Status {...requestLooks[one.status]} />
              </span>
              <span className="muted small">
                {one.requested_by ? (
                  rich('{time} by {name}', { time: <Time at={one.created_at} />, name: one.requested_by })
                ) : (
                  <Time at={one.created_at} />
                )}
              </span>
            </span>
            {one.reason && <span className="muted small">{one.reason}</span>}
            {one.answer && <span className="small">{t('Answer: {answer}', { answer: one.answer })}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
