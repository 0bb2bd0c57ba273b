-- People get one notice about an appointment that is cancelled here and still in its source: docs/feeds.md.

alter table feed_entry add told_time timestamptz;  -- when they got it
