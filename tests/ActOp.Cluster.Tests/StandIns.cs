namespace Orleans.Runtime
{
    public enum SiloStatus { None = 0, Created = 1, Joining = 2, Active = 3, ShuttingDown = 4, Stopping = 5, Dead = 6 }
}
namespace Orleans.Configuration
{
    public class ClusterMembershipOptions
    {
        public bool EnableIndirectProbes { get; set; } = true;
        public bool ExtendProbeTimeoutDuringDegradation { get; set; } = true;
        public bool LivenessEnabled { get; set; } = true;
        public int? MaxDefunctSiloEntries { get; set; }
        public TimeSpan MaxJoinAttemptTime { get; set; } = TimeSpan.FromMinutes(5);
        public int NumMissedProbesLimit { get; set; } = 3;
        public int NumProbedSilos { get; set; } = 10;
        public int NumVotesForDeathDeclaration { get; set; } = 2;
        public TimeSpan ProbeTimeout { get; set; } = TimeSpan.FromSeconds(5);
        public TimeSpan TableRefreshTimeout { get; set; } = TimeSpan.FromSeconds(60);
    }
}
