-- In which folder a run is carried out, so that of several processes each ends only its own.
ALTER TABLE run ADD COLUMN owner TEXT;
