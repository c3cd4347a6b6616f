namespace ActOp.TestClusters;

public interface IEchoGrain : IGrainWithStringKey
{
    Task<string> Echo(string text);

    Task<SiloAddress> Where();
}

public sealed class EchoGrain(ILocalSiloDetails silo) : Grain, IEchoGrain
{
    public Task<string> Echo(string text) => Task.FromResult(text);

    public Task<SiloAddress> Where() => Task.FromResult(silo.SiloAddress);
}
