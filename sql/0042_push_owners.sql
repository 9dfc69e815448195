-- Whatever gives a device to somebody else removes its push token. The trigger that did it cost every launch of an app.
-- The release before keeps no push tokens. If it moves a device meanwhile, the new owner is asked there, who is signed in there.
-- compatible-since: 25

DROP TRIGGER push_tokens_end_with_owner;
