import { ConnectPage } from '../../shared/ui/session/ConnectPage.tsx';
import { hub, useCaller } from '../api.ts';

export default function Connect() {
  const { name, email } = useCaller();
  const shown = name === '' ? (email ?? '') : name;
  return <ConnectPage name={shown} connect={(challenge) => hub.call('connectProgram', { body: { challenge } })} />;
}
