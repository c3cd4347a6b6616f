using ActOp.Orleans;
using ActOp.Peers.OnOrleans;
using ActOp.Peers.Shapes;
using Npgsql;
using Orleans.Configuration;
using Orleans.Hosting;

return await PeerProgram.RunAsync(args, static variant => new OrleansRuntime(variant));

/// <summary>Microsoft Orleans as its documentation sets it up, with what a variant adds.</summary>
/// <param name="variant">"orleans", "orleans-repartitioner", "orleans-actop" or "orleans-threads".</param>
internal sealed class OrleansRuntime(string variant) : IStateRuntime
{
    /// <summary>Its script, which whoever uses it runs.</summary>
    public async Task PrepareAsync(string database)
    {
        using var script = new StreamReader(typeof(OrleansRuntime).Assembly.GetManifestResourceStream("orleans.sql")!);
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand(await script.ReadToEndAsync());
        await command.ExecuteNonQueryAsync();
    }

    public Task<IPeerNode> StartSiloAsync(PeerPorts ports) => Node.StartSiloAsync(ports, silo =>
    {
        // Plays of one silo have grains whose requests do not interleave. AddActOp needs a filter for those of Halo.
        if (ports.IsAlone)
            silo.Configure<GrainTypeOptions>(static types => types.Classes.RemoveWhere(static type => type.Namespace == "HaloPresence"));
        if (variant == "orleans-repartitioner")
#pragma warning disable ORLEANSEXP001 // For evaluation, says Orleans; it is what it has.
            silo.AddActivationRepartitioner();
#pragma warning restore ORLEANSEXP001
        else if (variant == "orleans-actop")
            silo.AddActOp();
        else if (variant == "orleans-threads")
            silo.AddActOpThreads();
    });

    public Task<IPeerNode> StartClientAsync(IReadOnlyList<PeerPorts> silos) => Node.StartClientAsync(silos);
}
