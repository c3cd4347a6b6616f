namespace ActOp.Placement.Tests.Locality;

/// <summary>What it heard moves with it.</summary>
public sealed class TalkGrain(ILocalSiloDetails silo) : Grain, ITalkGrain, IGrainMigrationParticipant
{
    private int _heard;

    public ValueTask<int> Say(int word) => new(++_heard);

    public async ValueTask<bool> Talk(long other, int words)
    {
        var grain = GrainFactory.GetGrain<ITalkGrain>(other);
        for (var word = 0; word < words; word++)
            await grain.Say(word);
        return true;
    }

    public ValueTask<SiloAddress> Where() => new(silo.SiloAddress);

    public ValueTask<int> Heard() => new(_heard);

    public void OnDehydrate(IDehydrationContext dehydrationContext) => dehydrationContext.TryAddValue("heard", _heard);

    public void OnRehydrate(IRehydrationContext rehydrationContext)
    {
        if (rehydrationContext.TryGetValue("heard", out int heard))
            _heard = heard;
    }
}
