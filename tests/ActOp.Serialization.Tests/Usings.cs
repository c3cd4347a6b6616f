global using Orleans;
