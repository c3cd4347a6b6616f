namespace ActOp.TestClusters;

public interface IEchoGrain : IGrainWithStringKey
{
    Task<string> Echo(string text);

    Task<SiloAddress> Where();
}
