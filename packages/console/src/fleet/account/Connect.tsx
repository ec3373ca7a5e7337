import { ConnectPage } from '../../shared/ui/session/ConnectPage.tsx';
import { fleet, useCaller } from '../api.ts';

export default function Connect() {
  const { name } = useCaller();
  return <ConnectPage name={name} connect={(challenge) => fleet.call('connectProgram', { body: { challenge } })} />;
}
