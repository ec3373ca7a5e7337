import type { IssuedWebhook, Webhook, WebhookDelivery } from '@svc/contract';
import { type UseMutationOptions, type UseQueryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { CirclePlus, Pencil, Power, PowerOff, RotateCw, Send, Trash2, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import type { Failure } from '../api/client.ts';
import { t } from '../texts/texts.ts';
import { Button } from '../ui/controls/Button.tsx';
import { CheckField, FieldError, TextField } from '../ui/controls/Field.tsx';
import { useForm } from '../ui/controls/form.ts';
import { Menu } from '../ui/controls/Menu.tsx';
import { ConfirmDialog } from '../ui/dialogs/Dialog.tsx';
import { FormDialog } from '../ui/dialogs/FormDialog.tsx';
import { CopyLine, ShownOnceDialog } from '../ui/dialogs/ShownOnceDialog.tsx';
import { looks, Status, type StatusLook } from '../ui/display/Status.tsx';
import { Time } from '../ui/display/Time.tsx';
import { Empty, ErrorView, Loading, Notice } from '../ui/feedback/states.tsx';
import { confirmChange } from '../ui/feedback/toast.tsx';
import { Table } from '../ui/lists/Table.tsx';

type Listed = { webhooks: Webhook[] };
type OfOne = { readonly params: { readonly id: string } };

/** The calls of a service, and its words. */
export interface WebhookService<E extends string> {
  readonly list: UseQueryOptions<Listed, Failure, Listed, readonly [string, string, unknown]>;
  readonly create: UseMutationOptions<
    { webhook: IssuedWebhook },
    Failure,
    { readonly body: { name: string; url: string; events: E[] } }
  >;
  readonly change: UseMutationOptions<
    { webhook: Webhook },
    Failure,
    OfOne & {
      readonly body?: {
        name?: string | undefined;
        url?: string | undefined;
        events?: E[] | undefined;
        enabled?: boolean | undefined;
      };
    }
  >;
  readonly rotate: UseMutationOptions<{ webhook: IssuedWebhook }, Failure, OfOne>;
  readonly test: UseMutationOptions<{ delivery: WebhookDelivery }, Failure, OfOne>;
  readonly remove: UseMutationOptions<void, Failure, OfOne>;
  /** What a webhook is for. */
  readonly about: string;
  /** What each event means, in the order in which the form shows them. */
  readonly events: Readonly<Record<E, string>>;
  /** The events that the form of a new webhook selects. */
  readonly selected: readonly E[];
}

interface ServiceProps<E extends string> {
  readonly service: WebhookService<E>;
}

type Open = { readonly kind: 'new' } | { readonly kind: 'change' | 'rotate' | 'delete'; readonly webhook: Webhook };

function lookOf({ enabled, failing_since, delivered_at }: Webhook): StatusLook {
  if (!enabled) return looks.off(t('Disabled'));
  if (failing_since !== null) return looks.bad(t('Failing'));
  return delivered_at === null ? looks.neutral(t('Nothing sent yet')) : looks.good(t('Working'));
}

/** The webhooks of a service. */
export function Webhooks<E extends string>({ service }: ServiceProps<E>) {
  const { data, error, refetch } = useQuery({ ...service.list, refetchInterval: 5000 });
  const [open, setOpen] = useState<Open>();
  const test = useMutation({
    ...service.test,
    onSuccess: () => confirmChange(t('A test message is on its way')),
  });
  const enable = useMutation(service.change);
  if (error && !data) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the webhooks…')} />;
  const close = () => setOpen(undefined);
  const create = (
    <Button tone="primary" icon={CirclePlus} aria-haspopup="dialog" onClick={() => setOpen({ kind: 'new' })}>
      {t('New webhook')}
    </Button>
  );
  const failure = test.error ?? enable.error;
  return (
    <>
      {failure && <ErrorView error={failure} />}
      {data.webhooks.length === 0 ? (
        <div className="panel">
          <Empty icon={WebhookIcon} title={t('There is no webhook yet')} action={create}>
            {service.about}
          </Empty>
        </div>
      ) : (
        <>
          <div className="filters">{create}</div>
          <Table
            label={t('Webhooks')}
            columns={[
              { label: t('Name') },
              { label: t('State') },
              { label: t('Last message accepted') },
              { label: t('Created by') },
              { label: t('Actions'), isHidden: true },
            ]}
          >
            {data.webhooks.map((webhook) => (
              <tr key={webhook.id}>
                <th scope="row">
                  {webhook.name}
                  <span className="muted small mono truncate">{webhook.url}</span>
                </th>
                <td>
                  <Status {...lookOf(webhook)} />
                  <span className="muted small">{webhook.disabled_reason ?? webhook.failure}</span>
                </td>
                <td className="muted">{webhook.delivered_at ? <Time at={webhook.delivered_at} /> : t('never')}</td>
                <td className="muted">{webhook.created_by}</td>
                <td className="end">
                  <Menu
                    label={t('Actions for {name}', { name: webhook.name })}
                    actions={[
                      {
                        label: t('Send a test message'),
                        icon: Send,
                        onSelect: () => test.mutate({ params: { id: webhook.id } }),
                        blocked: webhook.enabled ? undefined : t('The webhook is disabled.'),
                      },
                      {
                        label: t('Change…'),
                        icon: Pencil,
                        onSelect: () => setOpen({ kind: 'change', webhook }),
                        opensDialog: true,
                      },
                      {
                        label: webhook.enabled ? t('Disable') : t('Enable'),
                        icon: webhook.enabled ? PowerOff : Power,
                        onSelect: () =>
                          enable.mutate({ params: { id: webhook.id }, body: { enabled: !webhook.enabled } }),
                      },
                      {
                        label: t('Replace the signing secret…'),
                        icon: RotateCw,
                        onSelect: () => setOpen({ kind: 'rotate', webhook }),
                        opensDialog: true,
                      },
                      {
                        label: t('Delete…'),
                        icon: Trash2,
                        isDangerous: true,
                        onSelect: () => setOpen({ kind: 'delete', webhook }),
                        opensDialog: true,
                      },
                    ]}
                  />
                </td>
              </tr>
            ))}
          </Table>
        </>
      )}
      {open?.kind === 'new' && <WebhookForm service={service} onClose={close} />}
      {open?.kind === 'change' && <WebhookForm service={service} webhook={open.webhook} onClose={close} />}
      {open?.kind === 'rotate' && <RotateDialog service={service} webhook={open.webhook} onClose={close} />}
      {open?.kind === 'delete' && <DeleteDialog service={service} webhook={open.webhook} onClose={close} />}
    </>
  );
}

/** The form of a new webhook, or of a change of one. */
function WebhookForm<E extends string>({
  service,
  webhook,
  onClose,
}: ServiceProps<E> & { readonly webhook?: Webhook; readonly onClose: () => void }) {
  const webhookEvents = Object.keys(service.events) as E[]; // the keys of the record
  const known = webhookEvents.filter((event) => webhook?.events.includes(event) ?? service.selected.includes(event));
  const form = useForm({ name: webhook?.name ?? '', url: webhook?.url ?? '', events: known });
  const { name, url, events } = form.values;
  // The response is not in the cache of changes: closing the dialog removes the secret from memory.
  const create = useMutation({ ...service.create, gcTime: 0 });
  const change = useMutation({
    ...service.change,
    onSuccess: () => {
      confirmChange(t('The webhook {name} is changed', { name }));
      onClose();
    },
  });
  if (create.data)
    return <SecretDialog name={create.data.webhook.name} secret={create.data.webhook.secret} onClose={onClose} />;
  const error = create.error ?? change.error;
  const errorAt = form.errorsOf(error);
  const body = { name, url, events };
  const eventsError = errorAt('events');
  return (
    <FormDialog
      title={webhook ? t('Change the webhook {name}', { name: webhook.name }) : t('New webhook')}
      action={webhook ? t('Save') : t('Create the webhook')}
      pending={create.isPending || change.isPending}
      error={error}
      shown={['name', 'url', 'events']}
      onClose={onClose}
      onSubmit={() => (webhook ? change.mutate({ params: { id: webhook.id }, body }) : create.mutate({ body }))}
    >
      <TextField {...form.bind('name')} label={t('Name')} required error={errorAt('name')} />
      <TextField
        {...form.bind('url')}
        label={t('Address')}
        hint={t('Where messages are sent, such as https://hooks.example.com/messages.')}
        required
        error={errorAt('url')}
      />
      <fieldset className="field">
        <legend>{t('Send a message when')}</legend>
        {webhookEvents.map((event) => (
          <CheckField
            key={event}
            name={`events.${event}`}
            label={service.events[event]}
            checked={events.includes(event)}
            onChange={(isSelected) =>
              form.set(
                'events',
                webhookEvents.filter((one) => (one === event ? isSelected : events.includes(one))),
              )
            }
          />
        ))}
        {eventsError && <FieldError text={eventsError} />}
      </fieldset>
    </FormDialog>
  );
}

function SecretDialog({
  name,
  secret,
  onClose,
}: {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}) {
  return (
    <ShownOnceDialog
      title={t('Copy the signing secret of {name} now', { name })}
      about={t('The receiver verifies messages with it. If you lose it, replace it.')}
      onClose={onClose}
    >
      <CopyLine label={t('Signing secret')} text={secret} action={t('Copy secret')} />
    </ShownOnceDialog>
  );
}

interface WebhookDialogProps<E extends string> extends ServiceProps<E> {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

function RotateDialog<E extends string>({ service, webhook: { id, name }, onClose }: WebhookDialogProps<E>) {
  const rotate = useMutation({ ...service.rotate, gcTime: 0 });
  if (rotate.data) return <SecretDialog name={name} secret={rotate.data.webhook.secret} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t('Replace the signing secret of {name}?', { name })}
      action={t('Replace')}
      pending={rotate.isPending}
      error={rotate.error}
      onClose={onClose}
      onConfirm={() => rotate.mutate({ params: { id } })}
    >
      <p>{t('For 24 hours, messages are signed with the new secret and with the previous one.')}</p>
    </ConfirmDialog>
  );
}

function DeleteDialog<E extends string>({ service, webhook: { id, name }, onClose }: WebhookDialogProps<E>) {
  const remove = useMutation({
    ...service.remove,
    onSuccess: () => {
      confirmChange(t('The webhook {name} is deleted', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('Delete the webhook {name}?', { name })}
      action={t('Delete')}
      pending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      <Notice kind="warning">{t('Messages that wait for it are deleted as well.')}</Notice>
    </ConfirmDialog>
  );
}
