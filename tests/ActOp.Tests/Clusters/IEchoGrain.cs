namespace ActOp.Tests.Clusters;

public interface IEchoGrain : IGrainWithStringKey
{
    Task<string> Echo(string text);

    Task<SiloAddress> Where();
}
