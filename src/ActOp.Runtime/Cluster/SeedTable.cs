using System.Net;
using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>The embedded membership table as every silo but the seed sees it: each operation is a call to the seed.</summary>
internal sealed class SeedTable(Node node, IPEndPoint seed) : IClusterTable
{
    public async ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken)
    {
        try
        {
            var silo = await node.Peers.FindAsync(seed).WaitAsync(cancellationToken);
            return await node.Factory.GetSystemTarget<IClusterTarget>(ClusterService.Name, silo).UseTable(request);
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException or OperationCanceledException)
        {
            throw new IOException("The seed silo at " + seed + ", which holds the membership table, does not answer.", exception);
        }
    }
}
