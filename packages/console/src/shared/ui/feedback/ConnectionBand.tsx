import { RefreshCw, WifiOff } from 'lucide-react';
import { lostSince, TRY_MS, tryNow } from '../../api/connection.ts';
import { rich, t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';
import { Time } from '../display/Time.tsx';

/** States that the service does not respond, since when, and what the console does about it. */
export function ConnectionBand() {
  const since = lostSince.use();
  if (since === undefined) return null;
  return (
    <div className="band lost" role="alert">
      <WifiOff size={16} aria-hidden />
      <span className="grow">
        {rich(
          'The service has not responded since {time}. What you see can be out of date. The console connects to {address} again every {seconds} seconds.',
          {
            time: <Time at={new Date(since).toISOString()} isExact />,
            address: location.host,
            seconds: TRY_MS / 1000,
          },
        )}
      </span>
      <Button size="small" icon={RefreshCw} onClick={tryNow}>
        {t('Try now')}
      </Button>
    </div>
  );
}
