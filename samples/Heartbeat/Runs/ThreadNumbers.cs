namespace Heartbeat.Runs;

/// <summary>Threads of the stages that a controller sizes.</summary>
public sealed record ThreadNumbers(int Receive, int Work, int SiloSend, int ClientSend)
{
    /// <summary>As text for tables, in the order of the names.</summary>
    public override string ToString() => $"{Receive}/{Work}/{SiloSend}/{ClientSend}";
}
